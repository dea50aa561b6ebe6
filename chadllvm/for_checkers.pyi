"""What type checkers see of the names of types, and of functions to differentiate.

By its grammar a type holds no slices. Mypy refuses them but in what is `Any`; Pyright
accepts them in a class with `__class_getitem__`, and gives the class itself. That class
stands for numbers and arrays alike: as a protocol without members of its own it accepts
them all, and it has the members of its bases, in which arithmetic gives `Any`.

A function is assignable to an overloaded one if it is to each of the overloads: in
`Takes1` one of them finds the type of the first parameter, and the other one all
parameters and the result. Variables that nothing decides, as those of a lambda, are
`Any`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import ParamSpec, TypeVar

MYPY = False  # Mypy takes it to be true.

if MYPY:
    f64: Any
    f32: Any
    i64: Any
    boolean: Any
else:
    class _Operators:
        __add__: Callable[..., Any]
        __radd__: Callable[..., Any]
        __iadd__: Callable[..., Any]
        __sub__: Callable[..., Any]
        __rsub__: Callable[..., Any]
        __isub__: Callable[..., Any]
        __mul__: Callable[..., Any]
        __rmul__: Callable[..., Any]
        __imul__: Callable[..., Any]
        __truediv__: Callable[..., Any]
        __rtruediv__: Callable[..., Any]
        __itruediv__: Callable[..., Any]
        __floordiv__: Callable[..., Any]
        __rfloordiv__: Callable[..., Any]
        __ifloordiv__: Callable[..., Any]
        __mod__: Callable[..., Any]
        __rmod__: Callable[..., Any]
        __imod__: Callable[..., Any]
        __pow__: Callable[..., Any]
        __rpow__: Callable[..., Any]
        __ipow__: Callable[..., Any]
        __matmul__: Callable[..., Any]
        __rmatmul__: Callable[..., Any]
        __and__: Callable[..., Any]
        __rand__: Callable[..., Any]
        __or__: Callable[..., Any]
        __ror__: Callable[..., Any]
        __xor__: Callable[..., Any]
        __rxor__: Callable[..., Any]
        __lshift__: Callable[..., Any]
        __rlshift__: Callable[..., Any]
        __rshift__: Callable[..., Any]
        __rrshift__: Callable[..., Any]
        __lt__: Callable[..., Any]
        __le__: Callable[..., Any]
        __gt__: Callable[..., Any]
        __ge__: Callable[..., Any]
        __eq__: Callable[..., Any]
        __ne__: Callable[..., Any]
        __neg__: Callable[..., Any]
        __pos__: Callable[..., Any]
        __abs__: Callable[..., Any]
        __invert__: Callable[..., Any]
        __getitem__: Callable[..., Any]
        __iter__: Callable[..., Any]

    class _F64(type(Protocol)):
        dtype: np.dtype[np.float64]

    class _F32(type(Protocol)):
        dtype: np.dtype[np.float32]

    class _I64(type(Protocol)):
        dtype: np.dtype[np.int64]

    class _Boolean(type(Protocol)):
        dtype: np.dtype[np.bool_]

    class f64(_Operators, NDArray[np.float64], Protocol, metaclass=_F64):
        def __class_getitem__(cls, dimensions: Any, /) -> Any: ...

    class f32(_Operators, NDArray[np.float32], Protocol, metaclass=_F32):
        def __class_getitem__(cls, dimensions: Any, /) -> Any: ...

    class i64(_Operators, NDArray[np.int64], Protocol, metaclass=_I64):
        def __class_getitem__(cls, dimensions: Any, /) -> Any: ...

    class boolean(_Operators, NDArray[np.bool_], Protocol, metaclass=_Boolean):
        def __class_getitem__(cls, dimensions: Any, /) -> Any: ...

P = ParamSpec("P")
R = TypeVar("R", default=Any)
A = TypeVar("A", default=Any)
B = TypeVar("B", default=Any)
C = TypeVar("C", default=Any)
X = TypeVar("X", default=Any)

_Result = TypeVar("_Result", covariant=True, default=Any)
_First = TypeVar("_First", contravariant=True, default=Any)
_Second = TypeVar("_Second", contravariant=True, default=Any)
_Third = TypeVar("_Third", contravariant=True, default=Any)

class Takes1(Protocol[P, _First, _Result]):
    """A function of at least one parameter."""

    @overload
    def __call__(self, first: _First, /, *args: Any, **kwargs: Any) -> Any: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _Result: ...

class Takes2(Protocol[P, _First, _Second, _Result]):
    """A function of at least two parameters."""

    @overload
    def __call__(
        self, first: _First, second: _Second, /, *args: Any, **kwargs: Any
    ) -> Any: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _Result: ...

class Takes3(Protocol[P, _First, _Second, _Third, _Result]):
    """A function of at least three parameters."""

    @overload
    def __call__(
        self,
        first: _First,
        second: _Second,
        third: _Third,
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> _Result: ...

# What the argument `argnums` may be, where its value decides the types of results.
At0 = Literal[0]
At1 = Literal[1]
At2 = Literal[2]
Argnums = int | str | Sequence[int | str]
