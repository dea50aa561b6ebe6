"""Fit a Gaussian mixture with full covariances to handwritten digits.

The 1797 images of scikit-learn's digits are projected to their principal components.
The mixture of `gmm_model.py` starts from k-means and is fitted by SciPy's L-BFGS-B with
the exact gradient of the compiled log-posterior; a picture shows means and progress.

    python examples/gmm_digits.py
    python examples/gmm_digits.py --components 20 --dimensions 24 --output digits.png
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from gmm_model import log_posterior
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from scipy.optimize import OptimizeResult, minimize
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import chadllvm as cl

Vector = NDArray[np.float64]

GAMMA = 0.3  # The prior's inverse scale: keeps precisions from growing without bound.
M = 2  # The prior's extra degrees of freedom: keeps them from vanishing.
CONVERGED = 1e-9  # Relative change of the log-posterior at which L-BFGS-B stops.

value_and_grad = cl.value_and_grad(log_posterior, argnums=(0, 1, 2, 3))


@dataclass(frozen=True)
class Packing:
    """The four parameter arrays as one vector, as SciPy wants them."""

    k: int
    d: int

    def unpack(self, theta: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """alpha (k,), means (k, d), q (k, d), lower (k, d (d - 1) / 2)."""
        k, d = self.k, self.d
        alpha, means, q, lower = np.split(theta, np.cumsum([k, k * d, k * d]))
        return alpha, means.reshape(k, d), q.reshape(k, d), lower.reshape(k, -1)

    def pack(self, parts: tuple[Vector, ...]) -> Vector:
        """The inverse of `unpack`."""
        return np.concatenate([np.ravel(part) for part in parts])


@dataclass
class Objective:
    """The negative log-posterior per image and its gradient; notes each time."""

    packing: Packing
    x: Vector
    seconds: list[float] = field(default_factory=list)

    def __call__(self, theta: Vector) -> tuple[float, Vector]:
        start = time.perf_counter()
        value, gradient = value_and_grad(*self.arguments(theta))
        self.seconds.append(time.perf_counter() - start)
        scale = -1.0 / len(self.x)
        return scale * value, scale * self.packing.pack(gradient)

    def arguments(self, theta: Vector) -> tuple[Any, ...]:
        """The arguments of `log_posterior` at theta."""
        return *self.packing.unpack(theta), self.x, GAMMA, M


def initial_parameters(x: Vector, k: int, seed: int) -> Vector:
    """Weights, means and (shrunk) covariances of the clusters of k-means."""
    clusters = KMeans(k, n_init=4, random_state=seed).fit(x)
    d = x.shape[1]
    alpha, q, lower = np.zeros(k), np.zeros((k, d)), np.zeros((k, d * (d - 1) // 2))
    for j in range(k):
        members = x[clusters.labels_ == j]
        centred = members - clusters.cluster_centers_[j]
        covariance = (centred.T @ centred + 0.1 * len(x) / k * np.eye(d)) / len(members)
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        alpha[j] = np.log(len(members) / len(x))
        q[j] = np.log(np.diag(root))
        lower[j] = root[np.tril_indices(d, -1)]
    return Packing(k, d).pack((alpha, clusters.cluster_centers_, q, lower))


def check_gradient(objective: Objective, theta: Vector, seed: int) -> float:
    """Largest relative error against central differences in random directions."""
    random = np.random.default_rng(seed)
    _, gradient = objective(theta)
    errors = []
    for _ in range(5):
        direction = random.normal(size=theta.size)
        direction *= 1e-4 / np.linalg.norm(direction)
        difference = objective(theta + direction)[0] - objective(theta - direction)[0]
        slope = 2.0 * gradient @ direction
        errors.append(float(abs(difference - slope) / abs(slope)))
    return max(errors)


def median_seconds(run: Callable[[], object], rounds: int = 9) -> float:
    """Median time of a call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def fit(
    objective: Objective, theta: Vector, iterations: int, console: Console
) -> tuple[OptimizeResult, list[float]]:
    """Minimise by L-BFGS-B; the result, and the log-posterior after each iteration."""
    n = len(objective.x)
    history = [-n * objective(theta)[0]]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("fitting", total=iterations)

        def record(intermediate_result: OptimizeResult) -> None:
            history.append(-n * float(intermediate_result.fun))
            text = f"log-posterior {history[-1]:.1f}"
            progress.update(task, advance=1, description=text)

        limits = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20}
        result = minimize(
            objective,
            theta,
            jac=True,
            method="L-BFGS-B",
            callback=record,
            options=limits | {"ftol": CONVERGED, "gtol": 1e-6},
        )
    return result, history


def draw(path: Path, images: Vector, weights: Vector, history: list[float]) -> None:
    """Write the means as images, heaviest first, beside the convergence curve."""
    columns = min(5, len(images))
    rows = -(-len(images) // columns)
    figure = plt.figure(figsize=(11, max(3.0, 1.4 * rows)), layout="constrained")
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    axes = left.subplots(rows, columns, squeeze=False).ravel()
    for axis in axes:
        axis.axis("off")
    order = np.argsort(-weights)
    for axis, j in zip(axes, order, strict=False):
        axis.imshow(images[j], cmap="gray_r")
        axis.set_title(f"{weights[j]:.3f}", fontsize=9)
    left.suptitle("means and weights of the components")
    curve = right.subplots()
    curve.plot(history)
    curve.set(xlabel="iteration", ylabel="log-posterior")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def parse_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Fit a Gaussian mixture to handwritten digits.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--components", type=int, default=10, help="of the mixture")
    parser.add_argument("--dimensions", type=int, default=16, help="of the projection")
    parser.add_argument("--iterations", type=int, default=1000, help="at most")
    parser.add_argument("--seed", type=int, default=0, help="of the k-means start")
    parser.add_argument("--output", type=Path, default=Path("gmm_digits.png"))
    return parser.parse_args()


def report_speed(objective: Objective, theta: Vector, console: Console) -> None:
    """Time the first call, which compiles, and then the value and the gradient."""
    start = time.perf_counter()
    objective(theta)
    console.print(f"compiled in {time.perf_counter() - start:.2f} s")
    arguments = objective.arguments(theta)
    log_posterior(*arguments)
    value = median_seconds(lambda: log_posterior(*arguments))
    both = median_seconds(lambda: value_and_grad(*arguments))
    console.print(
        f"value {value * 1e3:.2f} ms, value and gradient {both * 1e3:.2f} ms, "
        f"ratio {both / value:.2f}"
    )


def report_fit(
    result: OptimizeResult, history: list[float], seconds: list[float], console: Console
) -> None:
    """Say whether L-BFGS-B converged, and what it took."""
    state = "converged" if result.success else "stopped before convergence"
    console.print(f"{state} after {result.nit} iterations ({result.message})")
    console.print(f"log-posterior {history[0]:.1f} -> {history[-1]:.1f}")
    console.print(
        f"{len(seconds)} evaluations of value and gradient, "
        f"{np.median(seconds) * 1e3:.2f} ms each"
    )


def main() -> None:
    """Load, fit, report, draw."""
    options = parse_options()
    console = Console(highlight=False)
    pixels = load_digits().data
    projection = PCA(options.dimensions, random_state=options.seed).fit(pixels)
    scale = np.sqrt(projection.explained_variance_.mean())
    x = np.ascontiguousarray(projection.transform(pixels) / scale)
    packing = Packing(options.components, options.dimensions)
    objective = Objective(packing, x)
    theta = initial_parameters(x, options.components, options.seed)
    console.print(f"{len(x)} images, {x.shape[1]} dimensions, {theta.size} parameters")

    report_speed(objective, theta, console)
    error = check_gradient(objective, theta, options.seed)
    console.print(f"gradient against central differences: relative error {error:.1e}")

    objective.seconds.clear()
    result, history = fit(objective, theta, options.iterations, console)
    report_fit(result, history, objective.seconds, console)

    alpha, means, _, _ = packing.unpack(result.x)
    weights = np.exp(alpha - alpha.max())
    images = projection.inverse_transform(means * scale).reshape(-1, 8, 8)
    draw(options.output, images, weights / weights.sum(), history)
    console.print(f"picture written to {options.output}")


if __name__ == "__main__":
    main()
