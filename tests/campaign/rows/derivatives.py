"""Derivatives inside of programs, and rules of one's own."""

from __future__ import annotations

from tests.campaign.table import expression, statement
from tests.campaign.writer import Writer


def _local(w: Writer) -> str:
    with w.bound("float") as (t,):
        return f"lambda {t}: {w.expr('float')} * math.sin({t})"


def _of_vector(w: Writer) -> str:
    with w.bound("vec") as (t,):
        return f"lambda {t}: np.sum({w.expr('vec')} * np.sin({t}))"


@expression("Derivatives inside of programs", "float", 0.3)
def inner_gradient(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.grad({_local(w)})({w.expr('float')})"


@expression("Derivatives inside of programs", "vec", 0.25)
def inner_gradient_of_an_array(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.grad({_of_vector(w)})({w.expr('vec')})"


@expression("Derivatives inside of programs", "float", 0.2)
def inner_value_and_gradient(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.value_and_grad({_local(w)})({w.expr('float')})[{w.pick('0', '1')}]"


@expression("Along a direction", "float", 0.3)
def inner_tangent(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.jvp({_local(w)}, ({w.expr('float')},), ({w.expr('float')},))[1]"


@expression("Along a direction", "float", 0.15)
def inner_linear_map(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.linearize({_local(w)}, {w.expr('float')})[1]({w.expr('float')})"


@expression("From the result to the arguments", "float", 0.2)
def inner_pullback(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.vjp({_local(w)}, {w.expr('float')})[1]({w.expr('float')})[0]"


@expression("Jacobians and Hessians", "mat", 0.2)
def inner_jacobian(w: Writer) -> str:
    w.flags.add("derivatives")
    take, name = w.pick("jacfwd", "jacrev"), "vec"
    with w.bound(name) as (t,):
        inner = f"lambda {t}: np.sin({t}) * {w.expr('vec')}"
    return f"cl.{take}({inner})({w.expr('vec')})"


@expression("Jacobians and Hessians", "mat", 0.15)
def inner_hessian(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.hessian({_of_vector(w)})({w.expr('vec')})"


@expression("Jacobians and Hessians", "vec", 0.15)
def inner_product_with_hessian(w: Writer) -> str:
    w.flags.add("derivatives")
    return f"cl.hvp({_of_vector(w)})({w.expr('vec')}, {w.expr('vec')})"


@statement("Derivatives inside of programs", 0.3)
def newton_steps(w: Writer) -> None:
    """A loop of derivatives of a local function that captures."""
    name, x = w.fresh("fn"), w.fresh("x")
    w.flags |= {"derivatives", "slow"}
    with w.bound("float") as (t,):
        w.line(f"def {name}({t}):")
        w.line(w.capture(f"    return {t} ** 3 + 2.0 * {t} - {w.expr('unit')}"))
    w.line(f"{x} = 0.5")
    w.line("for _ in range(3):")
    w.line(f"    {x} = {x} - {name}({x}) / cl.grad({name})({x})")
    w.declare(x, "float")


@expression("Where no derivative goes", "float", 0.3)
def stopped(w: Writer) -> str:
    w.flags.add("hides")
    return f"cl.stop_gradient({w.expr('float')})"


@expression("Where no derivative goes", "vec", 0.3)
def stopped_array(w: Writer) -> str:
    w.flags.add("hides")
    return f"cl.stop_gradient({w.expr('vec')})"


@expression("Derivatives of your own", "float", 0.6)
def custom_tangent(w: Writer) -> str:
    w.need("log_sum_exp")
    return f"log_sum_exp({w.expr('vec')})"


@expression("Derivatives of your own", "float", 0.6)
def custom_pullback(w: Writer) -> str:
    w.need("bent")
    return f"bent({w.expr('float')}, {w.expr('float')})"


@expression("Derivatives of your own", "vec", 0.4)
def custom_pullback_of_an_array(w: Writer) -> str:
    w.need("squashed")
    return f"squashed({w.expr('vec')}, {w.expr('float')})"
