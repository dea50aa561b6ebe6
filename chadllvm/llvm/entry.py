"""The entry for calls from Python: arrays come as the addresses of NumPy's objects.

    int32_t name_entry(chad_context_t *ctx, chad_word_t *results,
                       <parameters>, <offers>)

Taking an array apart in Python costs more than a small function does, so the entry
reads the object itself: what it is, its data, its dimensions. Unless each array is a
plain one (of exactly NumPy's class and the parameter's dtype and rank, C-contiguous and
aligned) it returns INVALID and has done nothing. Scalars are passed as they are.

To make an array of a block that native code has allocated costs several times as much
as a new array of NumPy's. So the caller offers an array for each result that is one, of
the shape that it had in the last call if that was small (`backend/offers.py`). A result
that has the offer's shape is copied there, and its address is null then.
"""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.ir.loops import ArrayParam, ArrayResult, LoopFunction
from chadllvm.ir.types import BOOL, F32, F64, I64
from chadllvm.llvm import runtime
from chadllvm.llvm.types import BYTES, REGISTER

# NumPy's objects, which are elsewhere in each process: the class and the dtypes.
ARRAY_TYPE = "chad_numpy_array"
DTYPES = {elem: f"chad_numpy_{elem}" for elem in (F64, F32, I64, BOOL)}


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """Where the fields of NumPy's array objects are, in bytes.

    An array is plain if all bits of `plain` are set in its flags.
    """

    head: int
    plain: int

    @property
    def type(self) -> int:
        return self.head - 8

    @property
    def data(self) -> int:
        return self.head

    @property
    def rank(self) -> int:
        return self.head + 8

    @property
    def dims(self) -> int:
        return self.head + 16

    @property
    def dtype(self) -> int:
        return self.head + 40

    @property
    def flags(self) -> int:
        return self.head + 48


def entry_symbol(symbol: str) -> str:
    """The symbol of the entry of a function."""
    return f"{symbol}_entry"


def emit_entry(function: LoopFunction, symbol: str, layout: ArrayLayout) -> str:
    """The text of the entry, to be added to the module of the function."""
    params, args, lines = ["ptr %ctx", "ptr %results"], ["ptr %ctx", "ptr %results"], []
    for k, param in enumerate(function.params):
        if isinstance(param, ArrayParam):
            params.append(f"ptr %p{k}")
            lines += _take_apart(k, param, layout)
            args.append(f"ptr %data{k}")
            args += [f"i64 %dim{k}.{axis}" for axis in range(len(param.dims))]
        else:
            ty = "i8 zeroext" if param.reg.type == BOOL else REGISTER[param.reg.type]
            params.append(f"{ty} %p{k}")
            args.append(f"{ty} %p{k}")
    offers, copies = _copies(function, layout)
    return "\n".join(
        [
            "",
            *_outside(function),
            f"define i32 @{entry_symbol(symbol)}({', '.join([*params, *offers])}) "
            "nounwind {",
            *lines,
            f"  %status = call i32 @{symbol}({', '.join(args)}) noinline",
            f"  %done = icmp eq i32 %status, {runtime.OK}",
            "  br i1 %done, label %copy, label %return",
            "copy:",
            *copies,
            "  br label %return",
            "return:",
            "  ret i32 %status",
            "invalid:",
            f"  ret i32 {runtime.INVALID}",
            "}",
            "",
        ]
    )


def _outside(function: LoopFunction) -> list[str]:
    """Declarations of NumPy's objects."""
    elems = dict.fromkeys(
        param.elem for param in function.params if isinstance(param, ArrayParam)
    )
    names = [ARRAY_TYPE, *(DTYPES[elem] for elem in elems)] if elems else []
    return [f"@{name} = external global i8" for name in names]


def _take_apart(k: int, param: ArrayParam, layout: ArrayLayout) -> list[str]:
    """Check one array; load its data and dimensions. The class stands before the rest:
    what another class keeps there is unknown."""
    lines = [
        *_load(f"type{k}", "ptr", k, layout.type),
        f"  %array{k} = icmp eq ptr %type{k}, @{ARRAY_TYPE}",
        f"  br i1 %array{k}, label %array{k}.fields, label %invalid",
        f"array{k}.fields:",
        *_load(f"dtype{k}", "ptr", k, layout.dtype),
        *_load(f"rank{k}", "i32", k, layout.rank),
        *_load(f"flags{k}", "i32", k, layout.flags),
        f"  %dtype{k}.good = icmp eq ptr %dtype{k}, @{DTYPES[param.elem]}",
        f"  %rank{k}.good = icmp eq i32 %rank{k}, {len(param.dims)}",
        f"  %plain{k} = and i32 %flags{k}, {layout.plain}",
        f"  %plain{k}.good = icmp eq i32 %plain{k}, {layout.plain}",
        f"  %both{k} = and i1 %dtype{k}.good, %rank{k}.good",
        f"  %good{k} = and i1 %both{k}, %plain{k}.good",
        f"  br i1 %good{k}, label %array{k}.good, label %invalid",
        f"array{k}.good:",
        *_load(f"data{k}", "ptr", k, layout.data),
        *_load(f"dims{k}", "ptr", k, layout.dims),
    ]
    for axis in range(len(param.dims)):
        at = f"%at{k}.{axis}"
        lines += [
            f"  {at} = getelementptr i64, ptr %dims{k}, i64 {axis}",
            f"  %dim{k}.{axis} = load i64, ptr {at}",
        ]
    return lines


def _copies(function: LoopFunction, layout: ArrayLayout) -> tuple[list[str], list[str]]:
    """The parameters for what is offered, and the code that copies results there.

    What was made last comes first, which is where the runtime looks for it first.
    """
    params: list[str] = []
    copies: list[str] = []
    word = 0
    for k, result in enumerate(function.results):
        if not isinstance(result, ArrayResult):
            word += 1
            continue
        params.append(f"ptr %p.offer{k}")
        lines = [
            *_load(f"to{k}", "ptr", f".offer{k}", layout.data),
            *_load(f"to{k}.dims", "ptr", f".offer{k}", layout.dims),
            f"  %result{k} = getelementptr i64, ptr %results, i64 {word}",
            f"  call void @chad_result_copy(ptr %ctx, ptr %result{k}, i64 {result.rank}"
            f", i64 {BYTES[result.elem]}, ptr %to{k}, ptr %to{k}.dims)",
        ]
        copies = lines + copies
        word += 1 + result.rank
    return params, copies


def _load(name: str, ty: str, k: int | str, offset: int) -> list[str]:
    """Load a field of the array object `%p{k}`."""
    return [
        f"  %{name}.at = getelementptr i8, ptr %p{k}, i64 {offset}",
        f"  %{name} = load {ty}, ptr %{name}.at",
    ]
