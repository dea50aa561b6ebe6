"""Enzyme through its JAX package: JAX's programs, differentiated after XLA lowers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from enzyme_ad.jax import enzyme_jax_ir

from bench.kernels import Case
from bench.peers import Prepared, with_jax

PROGRAMS = {name: p for name, p in with_jax.PROGRAMS.items() if name != "newton"}
REFUSED = {**with_jax.REFUSED, "newton": "its reverse of while_loop did not end"}


def prepare(name: str, case: Case) -> Prepared:
    """The value and the gradient; integers are constants, other numbers arrays."""
    moving = [k for k, a in enumerate(case.arguments) if not isinstance(a, int)]
    arguments = [jnp.asarray(case.arguments[k]) for k in moving]
    program = PROGRAMS[name]

    @enzyme_jax_ir()
    def run(*given: Any) -> Any:
        every = list(case.arguments)
        for k, argument in zip(moving, given, strict=True):
            every[k] = argument
        return program(*every)

    wrt = tuple(moving.index(k) for k in case.argnums)
    value, gradient = jax.jit(run), jax.jit(jax.value_and_grad(run, argnums=wrt))

    def done(compiled: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(compiled(*arguments))

    return Prepared(done(value), done(gradient))
