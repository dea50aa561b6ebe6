"""Derivatives inside of programs: `cl.grad`, `cl.jvp`, `cl.vjp` and their like.

    g = cl.grad(f)                 g = a function value that captures what f does
    y = g(x)               →       v, y = derivative gradient[0] @f(x)

Here is which function of the library means what. `differentiated.py` says what is
differentiated, `gradients.py`, `directions.py`, `pullbacks.py`, `jacobians.py` and
`linearised.py` what comes of it; `chad/derived.py` makes these calls functions. What f
has captured is held fixed, and has its part in derivatives of what is around.
"""

from __future__ import annotations

import ast
from typing import Any, assert_never

from chadllvm.frontend import directions, gradients, jacobians, linearised, pullbacks
from chadllvm.frontend.context import Context
from chadllvm.frontend.delayed import Value
from chadllvm.frontend.marks import mark_as_arrays
from chadllvm.frontend.method_values import with_lambda
from chadllvm.support.derivative_kinds import MARK, Transform

# Whether a Jacobian is made in forward mode, and whether of the gradient.
_JACOBIANS = {
    Transform.JACFWD: (True, False),
    Transform.JACREV: (False, False),
    Transform.HESSIAN: (True, True),
}


def transform_of(value: Any) -> Transform | None:
    """Which of them an object is."""
    found = getattr(value, MARK, None)
    return found if isinstance(found, Transform) else None


def transform(which: Transform, cx: Context, node: ast.Call) -> Value:
    """A call of one of them, which gives arrays where the function gives lists."""
    return mark_as_arrays(cx, _transform(which, cx, with_lambda(cx, node)))


def _transform(which: Transform, cx: Context, node: ast.Call) -> Value:
    match which:
        case Transform.GRAD | Transform.VALUE_AND_GRAD:
            return gradients.gradient(cx, node, which is Transform.VALUE_AND_GRAD)
        case Transform.JVP:
            return directions.jvp(cx, node)
        case Transform.VJP:
            return pullbacks.vjp(cx, node)
        case Transform.JACFWD | Transform.JACREV | Transform.HESSIAN:
            is_forward, of_gradient = _JACOBIANS[which]
            return jacobians.jacobian(cx, node, is_forward, of_gradient)
        case Transform.HVP:
            return linearised.hvp(cx, node)
        case Transform.LINEARIZE:
            return linearised.linearize(cx, node)
        case _:
            assert_never(which)
