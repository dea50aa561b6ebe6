"""Log-densities over records for nutpie, which samples from them by NUTS.

    model = nutpie_model(log_density, Line(0.0, np.zeros(3)), x, y)
    trace = nutpie.sample(model)

nutpie 0.16 or newer is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

try:
    from nutpie.compiled_pyfunc import from_pyfunc
except ImportError as error:
    raise ImportError(
        "chadllvm.interop.nutpie needs nutpie 0.16 or newer: pip install 'nutpie>=0.16'"
    ) from error

from chadllvm.api.transforms import jit, value_and_grad
from chadllvm.interop.derived import of_vector


def nutpie_model(
    log_density: Callable[..., Any],
    start: Any,
    *data: Any,
    keep: Callable[[Any], Any] | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None,
    dims: Mapping[str, tuple[str, ...]] | None = None,
) -> Any:
    """A model that `nutpie.sample` takes.

    Args:
        log_density: takes a record of unconstrained parameters and then `data`, and
            returns a float: the logarithm of a density over the numbers in the record,
            up to a constant. What is bounded is transformed before, with the logarithm
            of the Jacobian added (`chadllvm.transforms`).
        start: a record of its first parameter: floats, float64 arrays, and tuples,
            named tuples, frozen dataclasses and dictionaries of them, or one array.
            Chains start within 1 of its numbers.
        data: the other arguments of `log_density`, the same for all chains.
        keep: what is kept of a record of parameters: a function that gives a record,
            say of the transformed ones; compiled. Without it the parameters are kept.
        coords, dims: names along the axes of what is kept, as in nutpie.

    Returns:
        nutpie's compiled model. What is kept is named by the fields of the record, with
        a dot before those of a record in it; an array alone is `x`. A point where the
        density is -inf or NaN is a divergence.

    Raises:
        TypeError: if there is something else in a record.
        CompileError: if the density does not return a float, or cannot be compiled.
    """
    x0, unravel, flat = of_vector(log_density, start)
    call = value_and_grad(flat)
    record_of = unravel if keep is None else _kept(keep, unravel)
    call(x0, *data)  # Compiled, and refused, before a chain starts.
    example = dict(_leaves(record_of(x0), ""))

    def density(point: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        value, gradient = call(point, *data)
        return value, gradient

    def expanded(point: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
        return dict(_leaves(record_of(point), ""))

    def near(seed: int) -> np.ndarray[Any, Any]:
        return x0 + np.random.default_rng(seed).uniform(-1.0, 1.0, len(x0))

    return from_pyfunc(
        len(x0),
        lambda: density,
        lambda *seeds: expanded,
        [leaf.dtype for leaf in example.values()],
        [leaf.shape for leaf in example.values()],
        [*example],
        coords={name: [*values] for name, values in (coords or {}).items()},
        dims=dict(dims or {}),
        make_initial_point_fn=near,
    )


def _kept(keep: Callable[[Any], Any], unravel: Callable[[Any], Any]) -> Any:
    compiled = jit(keep)
    return lambda point: compiled(unravel(point))


def _leaves(value: Any, path: str) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """What is in a record, by its path."""
    if isinstance(value, dict):
        parts = value
    elif is_dataclass(value):
        parts = {f.name: getattr(value, f.name) for f in fields(value)}
    elif hasattr(value, "_asdict"):
        parts = value._asdict()
    elif isinstance(value, tuple | list):
        parts = {str(k): part for k, part in enumerate(value)}
    else:
        yield path or "x", np.asarray(value)
        return
    for name, part in parts.items():
        yield from _leaves(part, f"{path}.{name}" if path else name)
