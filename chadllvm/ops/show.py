"""`show["{0}, {1:.3f}\\n" "d ad1"](v…)`: writes a text, as `print` does.

What it does is to be seen, so it is never removed, and nothing that can fail or is seen
moves across it. The text is a format string, in which `{0}`, `{1}`, … stand for the
values: numbers, and arrays of them. Each has a *kind*: the letter of a number's type (d
for f64, s for f32, i, b); of an array an "a", or an "l" if it is a list in Python, the
letter of its elements, and its rank. `error`: the text goes to the error stream.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chadllvm.ir.loops import CallRuntime
from chadllvm.ir.op import TypeRuleError, register_array_op
from chadllvm.ir.term import Apply, Function, Lambda, Lit, nested
from chadllvm.ir.types import BOOL, F32, F64, I64, Array, Scalar, Type
from chadllvm.ir.value import ArrayValue
from chadllvm.ops.index import Inactive

if TYPE_CHECKING:
    from chadllvm.ir.interp import Interpreter
    from chadllvm.ir.lowering import Lowering
    from chadllvm.ir.term import Binding

# The most words that a text shows: a number is one, an array two and its dimensions.
MOST_WORDS = 64

_LETTERS = {F64: "d", F32: "s", I64: "i", BOOL: "b"}
DTYPES: dict[str, type[np.generic]] = {
    "d": np.float64, "s": np.float32, "i": np.int64, "b": np.bool_
}  # fmt: skip


@register_array_op
@dataclass(frozen=True)
class Show(Inactive):
    """`show[text kinds](v…)`; `error`: to the error stream."""

    name = "show"
    can_fail = True
    text: str
    kinds: tuple[str, ...] = ()
    error: bool = False

    @property
    def attributes(self) -> str:
        texts = self.text, " ".join(self.kinds), "error" if self.error else ""
        return json.dumps(texts)

    @classmethod
    def parse(cls, attributes: str) -> Show:
        text, kinds, error = json.loads(attributes)
        return cls(text, tuple(kinds.split()), bool(error))

    def result_types(
        self, args: Sequence[Type], bodies: Sequence[Lambda]
    ) -> tuple[Type, ...]:
        self.check_kinds(args)
        if words(args) > MOST_WORDS:
            raise TypeRuleError(f"show: more than {MOST_WORDS} words")
        return ()

    def check_kinds(self, args: Sequence[Type]) -> None:
        """The values are of the kinds that are named."""
        if len(args) != len(self.kinds):
            raise TypeRuleError(f"show: {len(args)} values of {len(self.kinds)} kinds")
        for kind, ty in zip(self.kinds, args, strict=True):
            if kind != kind_of(ty, is_list=kind.startswith("l")):
                raise TypeRuleError(f"show: {ty} is not of the kind {kind}")

    def interpret(
        self, run: Interpreter, args: Sequence[Any], bodies: Sequence[Lambda]
    ) -> tuple[Any, ...]:
        sizes = (len(v.data) if isinstance(v, ArrayValue) else 1 for v in args)
        run.pay(sum(sizes))
        write(self.text, self.shown(args), self.error)
        return ()

    def shown(self, args: Sequence[Any]) -> list[Any]:
        """The values as Python has them."""
        shown: list[Any] = []
        for kind, value in zip(self.kinds, args, strict=True):
            if isinstance(value, ArrayValue):
                array = np.array(value.data, DTYPES[kind[1]]).reshape(value.shape)
                shown.append(array.tolist() if kind[0] == "l" else array)
            else:
                shown.append(value if kind != "s" else np.float32(value))
        return shown

    def lower(self, lowering: Lowering, node: Apply, binding: Binding) -> None:
        loops = lowering.loops

        def tell(how: str, *args: Any) -> None:
            loops.emit(CallRuntime(None, how, args))

        for kind, arg in zip(self.kinds, node.args, strict=True):
            if len(kind) > 1:
                place, size, dims = lowering.elements(arg)
                tell("chad_print_address", place)
                for number in (Lit(size), *dims):
                    tell("chad_print_integer", number)
            elif kind in "ds":
                value = lowering.atom(arg)
                wide = loops.let("widen", value) if kind == "s" else value
                tell("chad_print_real", wide)
            else:
                value = lowering.atom(arg)
                number = loops.let("bool_to_int", value) if kind == "b" else value
                tell("chad_print_integer", number)
        text = f"{''.join(self.kinds)}\0{self.text}\0".encode()
        padded = text + bytes(-len(text) % 8)
        place = lowering.address_of(np.frombuffer(padded, np.int64))
        tell("chad_print", place, Lit(int(self.error)))


def shows(function: Function) -> bool:
    """Whether a function writes anything itself; blocks may be nested to any depth."""
    waiting = [function.body]
    while waiting:
        for binding in waiting.pop().bindings:
            if isinstance(binding.expr, Apply) and isinstance(binding.expr.op, Show):
                return True
            waiting += [inner for _, inner in nested(binding.expr)]
    return False


def kind_of(ty: Type, *, is_list: bool) -> str:
    """What `kinds` says of a value.

    Raises:
        TypeRuleError: for what is not shown.
    """
    match ty:
        case Scalar():
            return _LETTERS[ty]
        case Array(Scalar() as elem, rank):
            return f"{'l' if is_list else 'a'}{_LETTERS[elem]}{rank}"
        case _:
            raise TypeRuleError(f"show: {ty} is neither a number nor an array of these")


def words(types: Sequence[Type]) -> int:
    """How many words show values of these types."""
    return sum(2 + ty.rank if isinstance(ty, Array) else 1 for ty in types)


def write(text: str, values: Sequence[Any], error: bool) -> None:
    """Write to Python's standard output, or error, as it is now."""
    stream = sys.stderr if error else sys.stdout
    if stream is not None:
        stream.write(text.format(*values))
