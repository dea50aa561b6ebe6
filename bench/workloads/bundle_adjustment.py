"""Bundle adjustment: cameras and points in space, by the images of the points.

A camera is eleven numbers: a rotation vector, a centre, a focal length, a principal
point and two radial distortions, as in the public suites that compare systems for
derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import chadllvm as cl
from bench.workload import Workload


@cl.jit
def rotated(
    r: tuple[float, float, float], x: tuple[float, float, float]
) -> tuple[float, float, float]:
    """x turned by a rotation vector, with Rodrigues' formula."""
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if square < 1e-24:
        return (
            x[0] + r[1] * x[2] - r[2] * x[1],
            x[1] + r[2] * x[0] - r[0] * x[2],
            x[2] + r[0] * x[1] - r[1] * x[0],
        )
    angle = math.sqrt(square)
    cosine, sine = math.cos(angle), math.sin(angle)
    a, b, c = r[0] / angle, r[1] / angle, r[2] / angle
    along = (a * x[0] + b * x[1] + c * x[2]) * (1.0 - cosine)
    return (
        x[0] * cosine + (b * x[2] - c * x[1]) * sine + a * along,
        x[1] * cosine + (c * x[0] - a * x[2]) * sine + b * along,
        x[2] * cosine + (a * x[1] - b * x[0]) * sine + c * along,
    )


@cl.jit
def bundle_adjustment(
    cameras: cl.f64[:, :],
    points: cl.f64[:, :],
    weights: cl.f64[:],
    seen: cl.i64[:, :],
    images: cl.f64[:, :],
) -> float:
    """The squares of all weighted differences of images, and what the weights cost.

    `seen[k]`: the camera and the point of an observation; `images[k]`: what it saw.
    """
    total = 0.0
    for k in range(len(seen)):
        c, x, w = cameras[seen[k, 0]], points[seen[k, 1]], weights[k]
        p = rotated((c[0], c[1], c[2]), (x[0] - c[3], x[1] - c[4], x[2] - c[5]))
        u, v = p[0] / p[2], p[1] / p[2]
        square = u * u + v * v
        bent = c[6] * (1.0 + square * (c[9] + square * c[10]))
        du = w * (bent * u + c[7] - images[k, 0])
        dv = w * (bent * v + c[8] - images[k, 1])
        total += du * du + dv * dv + (1.0 - w * w) ** 2
    return total


def problem(observations: int) -> tuple[Any, ...]:
    """A camera for 650 observations, and a point for four, as in public data."""
    rng = np.random.default_rng(observations)
    n, m = 2 + observations // 650, 4 + observations // 4
    cameras = np.empty((n, 11))
    cameras[:, :3] = 0.3 * rng.normal(size=(n, 3))
    cameras[:, 3:6] = rng.normal(size=(n, 3)) - (0.0, 0.0, 8.0)
    cameras[:, 6] = rng.uniform(0.9, 1.1, n)
    cameras[:, 7:9] = 0.01 * rng.normal(size=(n, 2))
    cameras[:, 9:] = (0.02, 0.01) * rng.normal(size=(n, 2))
    points = rng.normal(size=(m, 3))
    weights = rng.uniform(0.8, 1.2, observations)
    camera, point = rng.integers(0, n, observations), rng.integers(0, m, observations)
    images = 0.2 * rng.normal(size=(observations, 2))
    return cameras, points, weights, np.stack((camera, point), axis=1), images


WORKLOAD = Workload(
    bundle_adjustment,
    problem,
    sizes=((3_000,), (30_000,), (500_000,)),
    small=(40,),
    argnums=(0, 1, 2),
    lengths=(0, 1, 2),
)
