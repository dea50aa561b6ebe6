"""The examples: their models against NumPy or plain Python, their gradients, a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from example_modules import load, undecorated
from numpy.typing import NDArray

import chadllvm as cl

Vector = NDArray[np.float64]
STEP = 1e-6


def random_arguments(n: int, k: int, d: int) -> list[Any]:
    random = np.random.default_rng(7)
    shapes = [(k,), (k, d), (k, d), (k, d * (d - 1) // 2), (n, d)]
    return [*(random.normal(size=shape) for shape in shapes), 0.7, 3]


def log_sum_exp(values: Vector) -> Vector:
    largest = values.max(axis=-1)
    rest = np.exp(values - largest[..., None]).sum(axis=-1)
    return np.asarray(largest + np.log(rest))


def expected(
    alpha: Vector,
    means: Vector,
    q: Vector,
    lower: Vector,
    x: Vector,
    gamma: float,
    m: int,
) -> float:
    """The same density by whole arrays."""
    (k, d), n = means.shape, len(x)
    root = np.zeros((k, d, d))
    root[:, *np.tril_indices(d, -1)] = lower
    root[:, range(d), range(d)] = np.exp(q)
    white = np.einsum("krc,knc->knr", root, x - means[:, None])
    terms = alpha + q.sum(axis=1) - 0.5 * (white**2).sum(axis=2).T
    prior = m * q.sum() - 0.5 * gamma**2 * (root**2).sum()
    total = log_sum_exp(terms).sum() - n * log_sum_exp(alpha) + prior
    return float(total - 0.5 * n * d * np.log(2.0 * np.pi))


def test_value_is_that_of_numpy() -> None:
    log_posterior = load("gmm_model").log_posterior
    for n, k, d in ((6, 3, 4), (2, 1, 1), (5, 4, 2)):
        arguments = random_arguments(n, k, d)
        wanted = expected(*arguments)
        np.testing.assert_allclose(log_posterior(*arguments), wanted, rtol=1e-12)


def test_plain_python_gives_the_same_value() -> None:
    module = undecorated("gmm_model")
    arguments = random_arguments(6, 3, 4)
    value = module.log_posterior(*arguments)
    np.testing.assert_allclose(value, expected(*arguments), rtol=1e-12)


def test_gradient_is_that_of_differences() -> None:
    arguments = random_arguments(6, 3, 4)
    log_posterior = load("gmm_model").log_posterior
    gradient_of = cl.value_and_grad(log_posterior, argnums=(0, 1, 2, 3, 4))
    value, gradients = gradient_of(*arguments)
    np.testing.assert_allclose(value, expected(*arguments), rtol=1e-12)
    for number, gradient in enumerate(gradients):
        assert gradient.shape == arguments[number].shape
        for index in np.ndindex(gradient.shape):
            shifted = [list(arguments), list(arguments)]
            for side, step in zip(shifted, (STEP, -STEP), strict=True):
                side[number] = side[number].copy()
                side[number][index] += step
            difference = expected(*shifted[0]) - expected(*shifted[1])
            slope = difference / (2.0 * STEP)
            np.testing.assert_allclose(gradient[index], slope, rtol=1e-6, atol=1e-6)


# ---- pharmacokinetics


@pytest.fixture(scope="module")
def pharmacokinetics() -> Any:
    return load("pharmacokinetics")


def test_the_population_model_is_that_of_plain_python(pharmacokinetics: Any) -> None:
    trial = pharmacokinetics.simulated(pharmacokinetics.TRUTH, 3, seed=1)
    arguments = pharmacokinetics.TRUTH, np.full((3, 2), 0.1), *trial
    plain = undecorated("pharmacokinetics")
    expected = plain.log_posterior(*arguments)
    value = pharmacokinetics.log_posterior(*arguments)
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_the_population_models_gradient(pharmacokinetics: Any) -> None:
    """Against tangents and differences, in the direction of random parameters."""
    model, random = pharmacokinetics, np.random.default_rng(2)
    trial = model.simulated(model.TRUTH, 3, seed=1)
    theta = np.concatenate([model.TRUTH, np.full(6, 0.1)])
    step = random.normal(size=theta.size)
    value, gradient = model.objective(theta, trial)
    here, along = (
        (model.Population(*v[:8]), v[8:].reshape(-1, 2)) for v in (theta, step)
    )
    still = [model.Subject(0.0, 0.0, None, None)] * 3, np.zeros_like(trial.events)
    same, slope = cl.jvp(model.log_posterior, (*here, *trial), (*along, *still))
    assert same == pytest.approx(-value, rel=1e-12)
    assert slope == pytest.approx(-gradient @ step, rel=1e-9)
    ends = [model.objective(theta + h * step, trial)[0] for h in (STEP, -STEP)]
    assert (ends[0] - ends[1]) / (2 * STEP) == pytest.approx(gradient @ step, rel=1e-5)


def test_the_population_is_found_again(pharmacokinetics: Any) -> None:
    model = pharmacokinetics
    result = model.fit(model.simulated(model.TRUTH, 24, seed=3))
    assert result.success
    # So precise are estimates with so few subjects; the deviations' width at the
    # mode, the last parameter, is below the true one.
    np.testing.assert_allclose(result.x[:7], model.TRUTH[:7], atol=0.25)
    np.testing.assert_allclose(result.x[1:4], model.TRUTH[1:4], atol=0.1)


# ---- the robot arm


@pytest.fixture(scope="module")
def robot_arm() -> Any:
    return load("robot_arm")


def arm_and_data(model: Any) -> tuple[Any, Any, Any]:
    """An arm that differs from its drawing, by what, and what is seen of it."""
    random, n = np.random.default_rng(0), len(model.DRAWING.links)
    scale = np.r_[np.full(n, 0.02), np.full(3 * n + 3, 0.004)]
    truth = random.normal(size=4 * n + 3) * scale
    arm = model.changed(model.DRAWING, truth)
    return arm, truth, model.measured(arm, 40, noise=0.3, seed=1)


def test_the_arm_is_that_of_plain_python(robot_arm: Any) -> None:
    plain = undecorated("robot_arm")
    arm, _, data = arm_and_data(plain)
    same, _, seen = arm_and_data(robot_arm)
    np.testing.assert_allclose(seen.pixels, data.pixels, rtol=1e-10)
    for name in ("residuals", "half_squares"):
        value, expected = (
            getattr(model, name)(built, model.DRAWING, model.CAMERAS, *data)
            for model, built in ((robot_arm, same), (plain, arm))
        )
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-12)


def test_the_arms_gradient_is_that_of_tangents(robot_arm: Any) -> None:
    model, data = robot_arm, arm_and_data(robot_arm)[2]
    arguments = model.DRAWING, model.DRAWING, model.CAMERAS, *data
    gradient = cl.grad(model.half_squares)(*arguments)
    zeros = [link.zero for link in gradient.links]
    offsets = [link.offset for link in gradient.links]
    flat = np.concatenate([zeros, np.ravel(offsets), gradient.tool])
    start = np.zeros(len(flat))
    expected = model.jacobian(start, data).T @ model.residuals(*arguments)
    np.testing.assert_allclose(flat, expected, rtol=1e-9, atol=1e-7)


def test_the_arm_is_calibrated(robot_arm: Any) -> None:
    model = robot_arm
    built, _, data = arm_and_data(model)
    found = model.changed(model.DRAWING, model.calibrate(data).x)
    fresh = model.measured(built, 20, noise=0.0, seed=2).postures
    errors = [
        [
            np.linalg.norm(model.marker_position(arm, p) - exact)
            for arm in (model.DRAWING, found)
        ]
        for p in fresh
        for exact in [model.marker_position(built, p)]
    ]
    before, after = np.mean(errors, axis=0)
    assert before > 0.01 and after < 0.001
    target = np.array([0.5, -0.3, 0.7])
    angles = model.reach(built, target, np.full(6, 0.3)).x
    np.testing.assert_allclose(model.marker_position(built, angles), target, atol=1e-5)
    assert all(
        k.lower <= a <= k.upper for k, a in zip(built.links, angles, strict=True)
    )


# ---- the saddle point


@pytest.fixture(scope="module")
def saddle_point() -> Any:
    return load("saddle_point")


@pytest.mark.sweep
def test_saddle_points_are_found_in_all_modes(saddle_point: Any) -> None:
    model, charges = saddle_point, np.array([2.0, 1.0])
    start = model.Place(np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    way = model.forward, model.reverse
    place = model.saddle(model.sheet, start, *way, 1e-7, model.STEPS)
    np.testing.assert_allclose(np.concatenate(place), 0.0, atol=1e-6)
    found = [model.rest(charges, outer, inner) for outer, inner in model.WAYS]
    np.testing.assert_allclose(found, model.exact_rest(charges), atol=1e-6)
    np.testing.assert_allclose(found, found[0], rtol=1e-12)


def test_a_saddle_point_moves_with_the_charges(saddle_point: Any) -> None:
    """The derivative goes through both descents, and is that of the exact place."""
    model, charges = saddle_point, np.array([2.0, 1.0])
    slopes = [
        (model.exact_rest(charges + h) - model.exact_rest(charges - h)) / (2.0 * STEP)
        for h in STEP * np.eye(2)
    ]
    gradient = cl.grad(model.rest)(charges, model.reverse, model.reverse)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4)


@pytest.mark.sweep
def test_descents_in_plain_python(saddle_point: Any) -> None:
    """The outer one; of the inner ones, each is compiled when it is needed."""
    model = saddle_point
    start = model.Place(np.array([1.0, 0.5]), np.array([-1.0, 0.3]))
    functions = model.sheet, start, model.reverse, model.forward
    compiled = model.saddle(*functions, 1e-7, 1)
    plain_functions = (getattr(f, "py_func", f) for f in functions)
    plain = model.saddle.py_func(*plain_functions, 1e-7, 1)
    np.testing.assert_allclose(np.concatenate(plain), np.concatenate(compiled))
    bowl = lambda x: np.sum((x - 2.0) ** 2 + 0.1 * x**4)  # noqa: E731
    arguments = bowl, start.x, model.reverse.py_func, 1e-9, 10
    expected = model.minimiser.py_func(*arguments)
    np.testing.assert_allclose(model.minimiser(*arguments), expected)


# ---- steering


@pytest.fixture(scope="module")
def steering() -> Any:
    return load("steering")


@pytest.mark.sweep
def test_particles_land_on_their_targets_in_all_modes(steering: Any) -> None:
    model = steering
    for flight, target, start in model.PROBLEMS:
        ways = model.WAYS if flight is model.by_charges else model.WAYS[2:3]
        controls = [model.steered(flight, target, start, *way) for way in ways]
        np.testing.assert_allclose(controls, controls[0], rtol=1e-12)
        place = flight(controls[0], model.reverse_field).place
        np.testing.assert_allclose(place, [target, 0.0], atol=1e-6)
        if flight is model.by_charges:
            # As published, where the search ended a little before.
            assert controls[0] == pytest.approx(0.20719, abs=1e-4)


def test_a_flights_derivatives_are_those_of_differences(steering: Any) -> None:
    """The event is a place, not a count of steps: it moves with the control."""
    model = steering
    for flight, target, control in model.PROBLEMS:
        arguments = flight, target, control, model.reverse_field
        slope = cl.grad(model.miss, argnums=2)(*arguments)
        ends = [
            model.miss(flight, target, control + h, model.forward_field)
            for h in (STEP, -STEP)
        ]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2.0 * STEP), rel=1e-5)


def test_a_flight_in_plain_python(steering: Any) -> None:
    model = steering
    here, speed = np.array([0.0, 1.0]), np.array([0.6, 0.4])
    spring = lambda place: 2.0 * place[1] + 0.5 * np.sum(place**2)  # noqa: E731
    arguments = spring, model.Particle(here, speed, 0.0), 0.1
    expected = model.landed.py_func(*arguments, model.reverse_field.py_func)
    for field in (model.forward_field, model.reverse_field):
        found = model.landed(*arguments, field)
        np.testing.assert_allclose(found.place, expected.place, atol=1e-12)
        np.testing.assert_allclose(found.time, expected.time)
