"""What can be wrong with recursive data."""

from __future__ import annotations

from chadllvm.codes import code, error
from chadllvm.diagnostic import Diagnostic, Span
from chadllvm.ir.types import Type
from chadllvm.ir.wording import said


@code("CL1701")
def mixed(span: Span, found: Type) -> Diagnostic:
    """A parameter with recursive data in it holds numbers, records and lists of these.

    Lists of records without recursive data, and lists of lists, are parameters of their
    own; so it is with results, and with what derivatives in programs are taken by.

    Fails:

        @dataclass(frozen=True)
        class Chain:
            head: float
            tail: Optional["Chain"]

        def f(pair: tuple[Chain, list[tuple[float, float]]]) -> float:
            return pair[0].head + pair[1][0][0]

        cl.jit(f)((Chain(1.0, None), [(2.0, 3.0)]))

    Works:

        @dataclass(frozen=True)
        class Chain:
            head: float
            tail: Optional["Chain"]

        def f(chain: Chain, points: list[tuple[float, float]]) -> float:
            return chain.head + points[0][0]

        cl.jit(f)(Chain(1.0, None), [(2.0, 3.0)])
    """
    return error(
        "recursive data together with lists of other things",
        span,
        f"takes or returns {said(found)}",
        "make it several parameters or results",
    )


@code("CL1702")
def same_name(span: Span, name: str) -> Diagnostic:
    """Two classes that contain themselves have different names within a program.

    Fails:

        def made():
            @dataclass(frozen=True)
            class Chain:
                head: float
                tail: Optional["Chain"]

            return Chain

        First, Second = made(), made()

        def f(x: First, y: Second) -> float:
            return x.head + y.head

        cl.jit(f)(First(1.0, None), Second(2.0, None))

    Works:

        @dataclass(frozen=True)
        class Chain:
            head: float
            tail: Optional["Chain"]

        def f(x: Chain, y: Chain) -> float:
            return x.head + y.head

        cl.jit(f)(Chain(1.0, None), Chain(2.0, None))
    """
    return error(
        "two classes of the same name",
        span,
        f"there are two classes `{name}` that contain themselves",
        "give one of them another name",
    )


@code("CL1703")
def jacobian(span: Span, title: str, found: Type) -> Diagnostic:
    """There are no Jacobians by recursive data, nor of any.

    Gradients, directional derivatives and pullbacks there are: a Jacobian has a
    component for each pair of numbers, and no class to be of.

    Fails:

        @dataclass(frozen=True)
        class Chain:
            head: float
            tail: Optional["Chain"]

        def f(chain: Chain) -> float:
            return cl.jacrev(lambda c: c.head**2)(chain).head

    Works:

        @dataclass(frozen=True)
        class Chain:
            head: float
            tail: Optional["Chain"]

        def f(chain: Chain) -> float:
            return cl.grad(lambda c: c.head**2)(chain).head
    """
    return error(
        f"no Jacobian of {title} by or of recursive data",
        span,
        f"{said(found)} holds recursive data",
        "take a gradient, `cl.jvp` or `cl.vjp`, or a Jacobian by numbers",
    )


@code("CL1705")
def with_rules(span: Span, title: str, found: Type) -> Diagnostic:
    """A function with derivatives of its own neither takes nor returns recursive data.

    Its rules could not say what is owed to the parts.

    Fails:

        @dataclass(frozen=True)
        class Chain:
            head: float
            tail: Optional["Chain"]

        @cl.custom_vjp
        def first(chain: Chain, x: float) -> float:
            return chain.head * x

        def forward(chain, x):
            return first(chain, x), chain.head

        def backward(head, ct):
            return None, head * ct

        first.defvjp(forward, backward)

        def f(chain: Chain) -> float:
            return first(chain, 2.0)

    Works:

        @dataclass(frozen=True)
        class Chain:
            head: float
            tail: Optional["Chain"]

        @cl.custom_vjp
        def scaled(head: float, x: float) -> float:
            return head * x

        def forward(head, x):
            return scaled(head, x), (head, x)

        def backward(kept, ct):
            head, x = kept
            return x * ct, head * ct

        scaled.defvjp(forward, backward)

        def f(chain: Chain) -> float:
            return scaled(chain.head, 2.0)
    """
    return error(
        f"{title} has derivatives of its own and recursive data",
        span,
        f"it takes or returns {said(found)}",
        "pass the numbers that it needs",
    )
