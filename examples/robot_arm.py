"""Calibrate a robot arm from marker positions, and find the angles that reach a point.

An arm is a chain of links that turn about their axes. Built arms differ from their
drawings: each joint's zero is a little off, each link a little longer or shorter, and
the marker at the tool is not quite where it should be. Two cameras see the marker in
many postures; a least-squares fit of the reprojection error finds all of that. With the
calibrated arm, inverse kinematics finds angles within the joints' limits that bring the
tool to a point.

    python examples/robot_arm.py
    python examples/robot_arm.py --plot arm.png
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, least_squares, minimize

import chadllvm as cl

Vector = NDArray[np.float64]

FOCAL = 800.0  # Of both cameras, in pixels.


@dataclass(frozen=True)
class Quaternion:
    """A rotation; its four components are of length one together."""

    w: float
    x: float
    y: float
    z: float

    @property
    def imaginary(self) -> cl.f64[:]:
        return np.array([self.x, self.y, self.z])

    def __mul__(self, other: Quaternion) -> Quaternion:
        """First `other`, then this."""
        return Quaternion(
            self.w * other.w - self.x * other.x - self.y * other.y - self.z * other.z,
            self.w * other.x + self.x * other.w + self.y * other.z - self.z * other.y,
            self.w * other.y - self.x * other.z + self.y * other.w + self.z * other.x,
            self.w * other.z + self.x * other.y - self.y * other.x + self.z * other.w,
        )

    def conjugate(self) -> Quaternion:
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def rotate(self, v: cl.f64[:]) -> cl.f64[:]:
        """The vector after the rotation."""
        u = self.imaginary
        return v + 2.0 * np.cross(u, np.cross(u, v) + self.w * v)


@cl.jit
def rotation(vector: cl.f64[:]) -> Quaternion:
    """About a vector by its length; also where it vanishes."""
    angle = np.linalg.norm(vector)
    # sin(angle / 2) / angle, which is 1/2 at zero.
    scale = 0.5 * np.sinc(angle / (2.0 * np.pi))
    x, y, z = scale * vector
    return Quaternion(math.cos(0.5 * angle), x, y, z)


class Link(NamedTuple):
    """A joint and the rigid part behind it, to the next joint; lengths in metres."""

    axis: NDArray[np.float64]
    offset: NDArray[np.float64]
    zero: float
    lower: float
    upper: float


class Arm(NamedTuple):
    """The links from the foot on, and the marker in the frame of the last one."""

    links: list[Link]
    tool: NDArray[np.float64]


class Camera(NamedTuple):
    """Where it stands, and the rotation (as a vector) from the world to its axes."""

    position: NDArray[np.float64]
    orientation: NDArray[np.float64]


class Pose(NamedTuple):
    """A frame in the world."""

    rotation: Quaternion
    position: NDArray[np.float64]

    def then(self, link: Link, angle: float) -> Pose:
        """The frame at the end of a link that is turned by an angle."""
        turned = self.rotation * rotation((angle + link.zero) * link.axis)
        return Pose(turned, self.position + turned.rotate(link.offset))


@cl.jit
def marker_position(arm: Arm, angles: cl.f64[:]) -> cl.f64[:]:
    """The marker in the world."""
    pose = Pose(Quaternion(1.0, 0.0, 0.0, 0.0), np.zeros(3))
    for link, angle in zip(arm.links, angles, strict=True):
        pose = pose.then(link, angle)
    return pose.position + pose.rotation.rotate(arm.tool)


@cl.jit
def projected(camera: Camera, point: cl.f64[:]) -> cl.f64[:]:
    """The pixel at which a camera sees a point."""
    x, y, depth = rotation(camera.orientation).rotate(point - camera.position)
    return np.array([FOCAL * x / depth, FOCAL * y / depth])


@cl.jit
def predicted_pixels(
    arm: Arm, cameras: list[Camera], postures: cl.f64[:, :]
) -> cl.f64[:, :, :]:
    """Of each camera and posture: shape (postures, cameras, 2)."""
    markers = [marker_position(arm, angles) for angles in postures]
    return np.array(
        [[projected(camera, marker) for camera in cameras] for marker in markers]
    )


@cl.jit
def residuals(
    arm: Arm,
    drawing: Arm,
    cameras: list[Camera],
    postures: cl.f64[:, :],
    pixels: cl.f64[:, :, :],
) -> cl.f64[:]:
    """What the fit makes small: pixels, and deviations from the drawing in 5 mm."""
    seen = (predicted_pixels(arm, cameras, postures) - pixels).ravel()
    zeros = [link.zero / 0.02 for link in arm.links]
    lengths = np.array(
        [
            (a.offset - b.offset) / 0.005
            for a, b in zip(arm.links, drawing.links, strict=True)
        ]
    )
    tool = (arm.tool - drawing.tool) / 0.005
    return np.concatenate([seen, zeros, lengths.ravel(), tool])


@cl.jit
def half_squares(
    arm: Arm,
    drawing: Arm,
    cameras: list[Camera],
    postures: cl.f64[:, :],
    pixels: cl.f64[:, :, :],
) -> float:
    """Half of the sum of the residuals' squares."""
    deviations = residuals(arm, drawing, cameras, postures, pixels)
    return 0.5 * float(np.sum(deviations**2))


@cl.jit
def reaching(angles: cl.f64[:], arm: Arm, target: cl.f64[:], stiffness: float) -> float:
    """The cost of a posture: distance, and a penalty beyond the joints' limits."""
    distance = np.linalg.norm(marker_position(arm, angles) - target)
    beyond = 0.0
    for link, angle in zip(arm.links, angles, strict=True):
        if angle < link.lower:
            beyond += (link.lower - angle) ** 2
        elif angle > link.upper:
            beyond += (angle - link.upper) ** 2
    return float(distance**2 + stiffness * beyond)


# ---- calibration and inverse kinematics, in plain NumPy and SciPy

X, Y, Z = np.eye(3)
DRAWING = Arm(
    [
        Link(Z, np.array([0.0, 0.0, 0.35]), 0.0, -3.0, 3.0),
        Link(Y, np.array([0.0, 0.0, 0.45]), 0.0, -1.8, 1.8),
        Link(Y, np.array([0.0, 0.05, 0.4]), 0.0, -2.4, 2.4),
        Link(Z, np.array([0.0, 0.0, 0.1]), 0.0, -3.0, 3.0),
        Link(Y, np.array([0.0, 0.0, 0.1]), 0.0, -2.0, 2.0),
        Link(Z, np.array([0.0, 0.0, 0.05]), 0.0, -3.0, 3.0),
    ],
    np.array([0.04, 0.0, 0.1]),
)
# One camera looks along -x and one along -y, both with z upwards.
CAMERAS = [
    Camera(np.array([3.0, 0.3, 0.8]), 1.2092 * np.array([1.0, 1.0, -1.0])),
    Camera(np.array([0.2, 3.0, 0.9]), 2.2214 * np.array([0.0, 1.0, -1.0])),
]


def changed(arm: Arm, theta: Vector) -> Arm:
    """The arm with other zeros, offsets and marker, by (n + 3 n + 3) differences."""
    n = len(arm.links)
    zeros, offsets = theta[:n], theta[n : 4 * n].reshape(n, 3)
    links = [
        link._replace(zero=link.zero + zero, offset=link.offset + offset)
        for link, zero, offset in zip(arm.links, zeros, offsets, strict=True)
    ]
    return Arm(links, arm.tool + theta[4 * n :])


class Measured(NamedTuple):
    """Postures and what the cameras saw, in pixels."""

    postures: Vector
    pixels: Vector


def measured(arm: Arm, count: int, noise: float, seed: int) -> Measured:
    """What is seen of an arm in random postures that both cameras can see."""
    random = np.random.default_rng(seed)
    limits = np.array([(link.lower, link.upper) for link in arm.links])
    low, high = 0.6 * limits.T
    postures = random.uniform(low, high, size=(count, len(limits)))
    exact = predicted_pixels(arm, CAMERAS, postures)
    return Measured(postures, exact + noise * random.normal(size=exact.shape))


def jacobian(theta: Vector, data: Measured) -> Vector:
    """The derivatives of the residuals by theta: a tangent for each of its numbers."""
    arm = changed(DRAWING, theta)
    links = [Link(np.zeros(3), np.zeros(3), 0.0, 0.0, 0.0) for _ in arm.links]
    still = Arm(links, np.zeros(3))
    cameras = [Camera(np.zeros(3), np.zeros(3)) for _ in CAMERAS]
    fixed = still, cameras, *(np.zeros_like(array) for array in data)
    columns = [
        cl.jvp(
            residuals, (arm, DRAWING, CAMERAS, *data), (changed(still, unit), *fixed)
        )[1]
        for unit in np.eye(len(theta))
    ]
    return np.stack(columns, axis=1)


def calibrate(data: Measured) -> OptimizeResult:
    """The differences to the drawing that explain the pixels best."""

    def misfit(theta: Vector) -> Vector:
        found: Vector = residuals(changed(DRAWING, theta), DRAWING, CAMERAS, *data)
        return found

    start = np.zeros(4 * len(DRAWING.links) + 3)
    return least_squares(misfit, start, jac=lambda theta: jacobian(theta, data))


def reach(arm: Arm, target: Vector, start: Vector) -> OptimizeResult:
    """Angles that bring the marker to the target."""
    arguments = arm, target, 10.0
    cost = cl.value_and_grad(reaching)
    return minimize(cost, start, args=arguments, jac=True, options={"gtol": 1e-9})


def draw(path: Path, arm: Arm, data: Measured) -> None:
    """Write the errors that the first camera sees, before and after the calibration."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axis, fitted, title in zip(
        axes, (DRAWING, arm), ("drawing", "calibrated"), strict=True
    ):
        error = predicted_pixels(fitted, CAMERAS, data.postures) - data.pixels
        # Arrows are 20 times as long as the errors.
        lengths = {"angles": "xy", "scale_units": "xy", "scale": 0.05, "width": 0.004}
        axis.quiver(*data.pixels[:, 0].T, *error[:, 0].T, **lengths)
        rms = np.sqrt(np.mean(error**2))
        axis.plot(*data.pixels[:, 0].T, ".")
        axis.set(title=f"{title}: {rms:.2f} pixels off", aspect="equal")
        axis.invert_yaxis()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Simulate, calibrate, reach for a point."""
    parser = argparse.ArgumentParser(description="Calibrate a robot arm.")
    parser.add_argument("--postures", type=int, default=40)
    parser.add_argument("--plot", type=Path, help="the picture to write")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    n = len(DRAWING.links)
    truth = (
        random.normal(size=4 * n + 3) * np.r_[np.full(n, 0.02), [0.004] * (3 * n + 3)]
    )
    built = changed(DRAWING, truth)
    data = measured(built, options.postures, noise=0.3, seed=1)
    start = time.perf_counter()
    result = calibrate(data)
    print(f"{result.message} ({time.perf_counter() - start:.1f} s)")
    arm = changed(DRAWING, result.x)
    fresh = measured(built, 100, noise=0.0, seed=2).postures
    for name, guess in (("drawing", DRAWING), ("calibrated", arm)):
        errors = [marker_position(guess, p) - marker_position(built, p) for p in fresh]
        print(f"{name:>10}: {1e3 * np.linalg.norm(errors, axis=1).mean():.2f} mm off")
    target = np.array([0.5, -0.3, 0.7])
    found = reach(arm, target, np.full(n, 0.3))
    distance = np.linalg.norm(marker_position(built, found.x) - target)
    print(f"reached {target} but for {1e3 * distance:.2f} mm, {found.nit} iterations")
    if options.plot:
        draw(options.plot, arm, data)


if __name__ == "__main__":
    main()
