"""One gradient used from each of numba, PyMC, JAX and torch, all in one process.

    .ci/beside.py first      chadllvm compiles before the others are loaded
    .ci/beside.py last       the others have compiled and have threads by then
    .ci/beside.py last pymc  … without one of them

There are two LLVMs, or three, in the process then, and as many pools of threads. Each
compiles and runs in turns with ours, on several threads; `.ci/beside` starts it.
"""

import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

# The devices and caches of others are not what is tried.
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np

import chadllvm as cl

X = np.linspace(-1.5, 2.0, 6)


@cl.jit
def energy(x: cl.f64[:], stiffness: float) -> float:
    """A chain of springs in a wave."""
    stretch = sum((x[i + 1] - x[i]) ** 2 for i in range(len(x) - 1))
    return 0.5 * stiffness * stretch + sum(math.cos(value) for value in x)


value_and_slope = cl.value_and_grad(energy, argnums=(0, 1))


def expected(x: np.ndarray, stiffness: float) -> tuple[float, np.ndarray, float]:
    """The value and the gradient, derived by hand."""
    steps = np.diff(x)
    by_x = -np.sin(x)
    by_x[:-1] -= stiffness * steps
    by_x[1:] += stiffness * steps
    stretch = 0.5 * float(steps @ steps)
    return stiffness * stretch + float(np.cos(x).sum()), by_x, stretch


def close(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def alone() -> None:
    """Ours by itself, on several threads; new code each time."""
    x = np.linspace(0.0, 30.0, 200_000)
    cl.set_num_threads(2)
    fresh = cl.value_and_grad(cl.jit(cache=False)(energy.py_func), argnums=(0, 1))
    value, (by_x, by_stiffness) = fresh(x, 0.3)
    wanted = expected(x, 0.3)
    close(value, wanted[0], 1e-9)
    close(by_x, wanted[1], 1e-9)
    close(by_stiffness, wanted[2], 1e-9)


def from_numba() -> None:
    """Gradient descent that numba compiles; its threads and its LLVM are busy too."""
    import numba

    slope = cl.grad(energy)

    @numba.njit
    def descend(x: np.ndarray, steps: int) -> np.ndarray:
        for _ in range(steps):
            with numba.objmode(g="float64[::1]"):
                g = slope(x, 1.0)
            x = x - 0.1 * g
        return x

    @numba.njit(parallel=True)
    def total(x: np.ndarray) -> float:
        found = 0.0
        for k in numba.prange(len(x)):
            found += math.cos(x[k])
        return found

    wanted = X.copy()
    for _ in range(25):
        wanted = wanted - 0.1 * expected(wanted, 1.0)[1]
    close(descend(X, 25), wanted)
    many = np.linspace(0.0, 30.0, 200_000)
    alone()
    close(total(many), np.cos(many).sum(), 1e-9)


def from_numba_without_python() -> None:
    """An exported gradient, which numba calls as any function in C."""
    import ctypes
    import shutil
    import tempfile
    from pathlib import Path

    import numba

    if shutil.which("cc") is None:
        sys.exit("beside: an exported library needs a C compiler")
    with tempfile.TemporaryDirectory() as folder:
        path = cl.export({"slope": cl.value_and_grad(energy)}, Path(folder) / "libside")
        assert cl.load(path).slope(X, 1.0)[0] == value_and_slope(X, 1.0)[0]
        call = ctypes.CDLL(str(path)).side_slope
    place = ctypes.c_void_p
    call.argtypes = [place, place, ctypes.c_int64, ctypes.c_double, place, place, place]
    call.restype = ctypes.c_int32

    @numba.njit
    def slope(x: np.ndarray, stiffness: float) -> np.ndarray:
        value, made = np.empty(1), np.empty_like(x)
        out = value.ctypes.data, made.ctypes.data
        assert call(0, x.ctypes.data, len(x), stiffness, out[0], out[1], 0) == 0
        return made

    close(slope(X, 2.0), expected(X, 2.0)[1])


def from_pymc() -> None:
    """A potential of a model, whose gradient a sampler asks for."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor.graph.op import Op

    class Slope(Op):
        itypes, otypes = (pt.dvector, pt.dscalar), (pt.dvector, pt.dscalar)

        def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
            _, (by_x, by_stiffness) = value_and_slope(inputs[0], float(inputs[1]))
            outputs[0][0], outputs[1][0] = by_x, np.asarray(by_stiffness)

    class Energy(Op):
        itypes, otypes = (pt.dvector, pt.dscalar), (pt.dscalar,)

        def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = np.asarray(energy(inputs[0], float(inputs[1])))

        def grad(self, inputs: Any, cotangents: Any) -> Any:
            by_x, by_stiffness = Slope()(*inputs)
            return [cotangents[0] * by_x, cotangents[0] * by_stiffness]

    with pm.Model() as model:
        x = pm.Normal("x", 0.0, 1.0, shape=len(X))
        stiffness = pm.Normal("stiffness", 1.0, 1.0)
        pm.Potential("energy", -Energy()(x, stiffness))
        _, by_x, by_stiffness = expected(X, 1.5)
        found = model.compile_dlogp()({"x": X, "stiffness": np.float64(1.5)})
        close(found, [*(-by_x - X), -by_stiffness - 0.5], 1e-9)
        drawn = pm.sample(
            20, tune=20, chains=1, cores=1, random_seed=0, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip
    assert np.isfinite(drawn.posterior["x"].to_numpy()).all()


def from_jax() -> None:
    """A callback with a derivative, under `jit`, `grad` and `vmap`."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    number = jax.ShapeDtypeStruct((), np.float64)

    def called(function: Callable[..., Any], like: Any, *args: Any) -> Any:
        return jax.pure_callback(function, like, *args, vmap_method="sequential")

    @jax.custom_vjp
    def f(x: Any, stiffness: Any) -> Any:
        def value(x: Any, stiffness: Any) -> Any:
            return np.float64(energy(np.asarray(x), float(stiffness)))

        return called(value, number, x, stiffness)

    def forward(x: Any, stiffness: Any) -> Any:
        def both(x: Any, stiffness: Any) -> Any:
            value, slopes = value_and_slope(np.asarray(x), float(stiffness))
            return np.float64(value), slopes[0], np.float64(slopes[1])

        like = number, jax.ShapeDtypeStruct(x.shape, np.float64), number
        value, *slopes = called(both, like, x, stiffness)
        return value, slopes

    def backward(slopes: Any, cotangent: Any) -> Any:
        return cotangent * slopes[0], cotangent * slopes[1]

    f.defvjp(forward, backward)
    value, (by_x, by_stiffness) = jax.jit(jax.value_and_grad(f, (0, 1)))(X, 1.5)
    for found, wanted in zip(
        (value, by_x, by_stiffness), expected(X, 1.5), strict=True
    ):
        close(found, wanted)
    by_log = jax.jit(jax.grad(lambda s: f(jnp.sin(X), jnp.exp(s)) ** 2))(0.5)
    value, _, slope = expected(np.sin(X), math.exp(0.5))
    close(by_log, 2.0 * value * slope * math.exp(0.5))
    rows = jax.vmap(jax.grad(f), (0, None))(jnp.stack([X, 2.0 * X]), 1.5)
    close(rows, [expected(X, 1.5)[1], expected(2.0 * X, 1.5)[1]])


def from_torch() -> None:
    """A function with a derivative of its own, among torch's, and its threads."""
    import torch

    class Energy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, stiffness: Any) -> Any:
            value, slopes = value_and_slope(x.detach().numpy(), float(stiffness))
            by_stiffness = torch.tensor(slopes[1], dtype=torch.float64)
            ctx.save_for_backward(torch.from_numpy(slopes[0]), by_stiffness)
            return torch.tensor(value, dtype=torch.float64)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            by_x, by_stiffness = ctx.saved_tensors
            return cotangent * by_x, cotangent * by_stiffness

    x = torch.tensor(X, requires_grad=True)
    stiffness = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    Energy.apply(torch.sin(x), stiffness).backward()
    _, by_x, by_stiffness = expected(np.sin(X), 1.5)
    close(x.grad.numpy(), by_x * np.cos(X))
    close(stiffness.grad.numpy(), by_stiffness)
    assert torch.autograd.gradcheck(Energy.apply, (x, stiffness))
    large = torch.rand(300, 300, dtype=torch.float64)
    for _ in range(3):  # Each with its own threads, in turns.
        close((large @ large).numpy(), large.numpy() @ large.numpy(), 1e-9)
        alone()


def wake_the_others() -> None:
    """Those that compile have compiled, and those with threads have used them."""
    import jax
    import numba
    import torch

    jax.jit(lambda x: x * 2.0)(1.0).block_until_ready()
    numba.njit(lambda x: x * 2.0)(1.0)
    (torch.rand(500, 500) @ torch.rand(500, 500)).sum()


def main() -> None:
    when, *without = sys.argv[1:] or ["?"]
    uses = [from_numba, from_numba_without_python, from_pymc, from_jax, from_torch]
    uses = [use for use in uses if use.__name__.removeprefix("from_") not in without]
    if when == "last":
        uses.reverse()
        wake_the_others()
    elif when != "first":
        sys.exit(__doc__)
    for use in [alone, *uses, alone]:
        start = time.perf_counter()
        use()
        print(f"{use.__name__:26} {time.perf_counter() - start:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
