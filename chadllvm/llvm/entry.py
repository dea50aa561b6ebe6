"""The entry for calls from Python: a built-in function of Python's, of its objects.

    PyObject *name_entry(PyObject *self, PyObject **arguments, Py_ssize_t count)

The arguments are the address of the words for results, in front of which stands the
context's, then the parameters, then offers. Scalars are exactly Python's; what arrays
are is found out here, because to take one apart in Python costs more than a small
function does. Unless each is a plain one (of exactly NumPy's class and the parameter's
dtype and rank, C-contiguous and aligned) the entry has done nothing.

To make an array of a block that native code has allocated costs several times as much
as a new array of NumPy's. So the caller offers an array for each result that is one
(`backend/offers.py`). Native code takes its memory for the result if that is as large,
and not from a branch or a loop, of which it does not know which one is returned; else a
result that has the offer's shape is copied there. Its address is null then.

The result is a status as an integer; BLOCKS if some address of a result is not null.
"""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.ir.loops import ArrayParam, ArrayResult, LoopFunction
from chadllvm.ir.types import BOOL, F32, F64, I64
from chadllvm.llvm import status
from chadllvm.llvm.python import PYTHON
from chadllvm.llvm.types import BYTES

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


# How scalars are passed on, and made of the objects `%p{k}`.
_SCALARS = {
    F64: (
        "double %x{k}",
        ["  %x{k} = call double @PyFloat_AsDouble(ptr %p{k})"],
    ),
    F32: (
        "float %x{k}",
        [
            "  %wide{k} = call double @PyFloat_AsDouble(ptr %p{k})",
            "  %x{k} = fptrunc double %wide{k} to float",
        ],
    ),
    I64: (
        "i64 %x{k}",
        ["  %x{k} = call i64 @PyLong_AsLongLong(ptr %p{k})"],
    ),
    BOOL: (
        "i8 zeroext %x{k}",
        [
            "  %truth{k} = call i32 @PyObject_IsTrue(ptr %p{k})",
            "  %x{k} = trunc i32 %truth{k} to i8",
        ],
    ),
}


def emit_entry(function: LoopFunction, symbol: str, layout: ArrayLayout) -> str:
    """The text of the entry, to be added to the module of the function."""
    args, lines = ["ptr %ctx", "ptr %results"], []
    for k, param in enumerate(function.params):
        lines += _argument(f"p{k}", 1 + k)
        if isinstance(param, ArrayParam):
            lines += _take_apart(k, param, layout)
            args.append(f"ptr %data{k}")
            args += [f"i64 %dim{k}.{axis}" for axis in range(len(param.dims))]
        else:
            text, conversion = _SCALARS[param.reg.type]
            lines += [line.format(k=k) for line in conversion]
            args.append(text.format(k=k))
    offers, copies = _copies(function, layout)
    count = sum(isinstance(result, ArrayResult) for result in function.results)
    begin, end = ([_lend_all("%outs")], [_lend_all("null")]) if count else ([], [])
    return "\n".join(
        [
            "",
            *_outside(function),
            *(f"declare {to} @{name}({of})" for name, (to, of) in PYTHON.items()),
            f"define ptr @{entry_symbol(symbol)}(ptr %self, ptr %arguments, "
            "i64 %count) nounwind {",
            *([f"  %outs = alloca [{count} x {{ptr, i64}}]"] if count else []),
            "  %state = load ptr, ptr %arguments",
            "  %words = call ptr @PyLong_AsVoidPtr(ptr %state)",
            "  %ctx = load ptr, ptr %words",
            "  %results = getelementptr i64, ptr %words, i64 1",
            *lines,
            *offers,
            *begin,
            "  br label %call",
            "call:",
            "  %thread = call ptr @PyEval_SaveThread()",
            f"  %status = call i32 @{symbol}({', '.join(args)}) noinline",
            *end,
            f"  %done = icmp eq i32 %status, {status.OK}",
            "  br i1 %done, label %copy, label %return",
            "copy:",
            *copies,
            "  br label %return",
            "return:",
            "  %code = phi i32 [%status, %call], [%left, %copy]",
            "  call void @PyEval_RestoreThread(ptr %thread)",
            "  %code.wide = sext i32 %code to i64",
            "  %code.object = call ptr @PyLong_FromLongLong(i64 %code.wide)",
            "  ret ptr %code.object",
            "invalid:",
            f"  %no = call ptr @PyLong_FromLongLong(i64 {status.INVALID})",
            "  ret ptr %no",
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


def _argument(name: str, position: int) -> list[str]:
    return [
        f"  %{name}.at = getelementptr ptr, ptr %arguments, i64 {position}",
        f"  %{name} = load ptr, ptr %{name}.at",
    ]


def _copies(function: LoopFunction, layout: ArrayLayout) -> tuple[list[str], list[str]]:
    """The code that looks at what is offered, and that which copies results there.

    What was made last comes first, which is where the runtime looks for it first.
    """
    offers: list[str] = []
    copies: list[str] = []
    rest: list[str] = []
    blocks, word, position = "false", 0, 1 + len(function.params)
    worst, number = f"{status.OK}", 0
    for k, result in enumerate(function.results):
        if not isinstance(result, ArrayResult):
            word += 1
            continue
        offers += [
            *_argument(f"p.offer{k}", position),
            *_load(f"to{k}", "ptr", f".offer{k}", layout.data),
            *_load(f"to{k}.dims", "ptr", f".offer{k}", layout.dims),
            *_lend(k, number, result),
        ]
        lines = [
            f"  %result{k} = getelementptr i64, ptr %results, i64 {word}",
            f"  %copied{k} = call i32 @chad_result_copy(ptr %ctx, ptr %result{k}, i64 "
            f"{result.rank}, i64 {BYTES[result.elem]}, ptr %to{k}, ptr %to{k}.dims)",
        ]
        copies = lines + copies
        rest.append(f"  %worst{k} = or i32 %copied{k}, {worst}")
        worst, number = f"%worst{k}", number + 1
        rest += [
            f"  %rest{k} = load ptr, ptr %result{k}",
            f"  %is.block{k} = icmp ne ptr %rest{k}, null",
            f"  %blocks{k} = or i1 %is.block{k}, {blocks}",
        ]
        blocks = f"%blocks{k}"
        word, position = word + 1 + result.rank, position + 1
    rest += [
        f"  %some = select i1 {blocks}, i32 {status.BLOCKS}, i32 {status.OK}",
        f"  %full = icmp ne i32 {worst}, {status.OK}",
        f"  %left = select i1 %full, i32 {status.MEMORY}, i32 %some",
    ]
    return offers, copies + rest


def _lend(k: int, number: int, result: ArrayResult) -> list[str]:
    """What the context is told of an offer: its memory, and how large that is."""
    lines, size = [], str(BYTES[result.elem])
    for axis in range(result.rank):
        at = f"%to{k}.at{axis}"
        lines += [
            f"  {at} = getelementptr i64, ptr %to{k}.dims, i64 {axis}",
            f"  %to{k}.dim{axis} = load i64, ptr {at}",
            f"  %to{k}.size{axis} = mul i64 %to{k}.dim{axis}, {size}",
        ]
        size = f"%to{k}.size{axis}"
    pair = f"getelementptr {{ptr, i64}}, ptr %outs, i64 {number}"
    return [
        *lines,
        f"  %out{k}.data = {pair}, i32 0",
        f"  store ptr %to{k}, ptr %out{k}.data",
        f"  %out{k}.bytes = {pair}, i32 1",
        f"  store i64 {size}, ptr %out{k}.bytes",
    ]


def _lend_all(outs: str) -> str:
    """Let the context know of the offers, or of none any more."""
    return f"  call void @chad_lend(ptr %ctx, ptr {outs})"


def _load(name: str, ty: str, k: int | str, offset: int) -> list[str]:
    """Load a field of the array object `%p{k}`."""
    return [
        f"  %{name}.at = getelementptr i8, ptr %p{k}, i64 {offset}",
        f"  %{name} = load {ty}, ptr %{name}.at",
    ]
