"""Log-densities over records for BlackJAX, whose samplers are programs of JAX.

    density = BlackjaxDensity(log_density, Line(0.0, np.zeros(3)), x, y)
    warmup = blackjax.window_adaptation(blackjax.nuts, density)
    (state, parameters), _ = warmup.run(key, density.x0, num_steps=1000)
    sampler = blackjax.nuts(density, **parameters)
    density.unravel(np.asarray(state.position))

JAX calls back into Python, once for a value with its gradient. Double precision is to
be enabled in JAX: `jax_enable_x64`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from chadllvm.api.transforms import value_and_grad
from chadllvm.interop.derived import of_vector
from chadllvm.interop.jax import check_float64


class BlackjaxDensity:
    """A log-density as a function of a vector, which JAX differentiates once.

    It may be compiled by `jax.jit` and mapped over chains by `jax.vmap`, which calls it
    for one after the other.

    Attributes:
        x0: the record that it was made with, as a vector of float64.
        unravel: makes a record of such a vector.
    """

    def __init__(self, log_density: Callable[..., Any], start: Any, *data: Any) -> None:
        """
        Args:
            log_density: takes a record of unconstrained parameters and then `data`, and
                returns a float: the logarithm of a density over the numbers in the
                record, up to a constant.
            start: a record of its first parameter (`cl.ravel`), or one array.
            data: the other arguments, the same for all points.

        Raises:
            TypeError: if there is something else in the record.
        """
        self.x0, self.unravel, flat = of_vector(log_density, start)
        both = value_and_grad(flat)
        kinds = (jax.ShapeDtypeStruct((), np.float64), _vector(len(self.x0)))

        def value(point: Any) -> Any:
            return np.asarray(flat(np.asarray(point), *data))

        def with_gradient(point: Any) -> Any:
            found, gradient = both(np.asarray(point), *data)
            return np.asarray(found), gradient

        @jax.custom_vjp
        def call(point: Any) -> Any:
            return jax.pure_callback(value, kinds[0], point, vmap_method="sequential")

        def run(point: Any) -> Any:
            check_float64("the point", point)
            return jax.pure_callback(
                with_gradient, kinds, point, vmap_method="sequential"
            )

        call.defvjp(run, lambda gradient, ct: (ct * gradient,))
        self._call = call

    def __call__(self, point: Any) -> Any:
        """The logarithm of the density at a vector.

        Raises:
            TypeError: if the vector is not of float64.
        """
        check_float64("the point", point)
        return self._call(point)


def _vector(size: int) -> Any:
    return jax.ShapeDtypeStruct((size,), np.float64)
