"""Sanitized code: the text of a module → the same, with every access checked.

      %t.3 = getelementptr inbounds double, ptr %y.2, i64 %i.1
      %v.4 = load double, ptr %t.3, align 8
  →
      %t.3 = getelementptr inbounds double, ptr %y.2, i64 %i.1
      call void @chad_san_step(ptr %y.2, i64 %i.1, i64 8, i32 0, ptr @what.0)
      %t.3.san = call ptr @chad_san_access(ptr %y.2, ptr %t.3, i64 8, ptr @what.1)
      %v.4 = load double, ptr %t.3.san, align 8

The instructions are those that LLVM is given, whatever has written them: so nothing is
left out, and nothing depends on what an earlier stage has proved. The runtime knows the
bounds of each buffer from its allocation (`runtime_c/src/sanitize.c`): what allocates
or gives back is called by another name, inputs are copied in front of a page that
nobody may touch, and the stack's buffers and constants are made known where they begin.

An access belongs to the buffer of the pointer that it starts from. Sums and products
that make an index are done again with a look at whether they overflow; it counts where
the index is used. A violation is kept by the runtime, and the access is made elsewhere:
no control flow changes, and the call ends with the status of a defect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from chadllvm.ir.loops import ArrayParam, LoopFunction
from chadllvm.llvm.types import BYTES
from chadllvm.support.diagnostic import InternalError

# Functions of the runtime that allocate or give back; `chad_san_…` knows the bounds.
_WRAPPED = (
    *("enter", "leave", "result_alloc"),
    *("arena_grow", "arena_extend", "arena_segment"),
    *("arena_reset", "arena_release", "arena_give"),
    *("array_new", "array_row", "array_with", "array_resized", "array_of_bag"),
    *("array_data", "cells_close_array"),
)
_CALLED = (
    *_WRAPPED,
    "buffer",
    "input",
    "input_free",
    "access",
    "masked",
    "bytes",
    "words",
)
SYMBOLS = tuple(f"chad_san_{name}" for name in (*_CALLED, "step", "overflow", "end"))

_DECLARATIONS = """\
declare void @chad_san_buffer(ptr, i64) nounwind
declare ptr @chad_san_input(ptr, i64) nounwind
declare void @chad_san_input_free(ptr, ptr, i64) nounwind
declare ptr @chad_san_access(ptr, ptr, i64, ptr) nounwind
declare ptr @chad_san_masked(ptr, ptr, i64, i64, i64, ptr) nounwind
declare i64 @chad_san_bytes(ptr, i64, ptr) nounwind
declare i64 @chad_san_words(ptr, i64, i64, ptr) nounwind
declare void @chad_san_step(ptr, i64, i64, i32, ptr) nounwind
declare void @chad_san_overflow(i32, ptr) nounwind
declare i32 @chad_san_end(i32) nounwind
"""

# What fills or reads elements by a call, and the bytes of each that it counts.
_BULK = {
    **dict.fromkeys(("llvm.memset.p0.i64", "llvm.memcpy.p0.p0.i64"), 1),
    **{"chad_clear": 1, "chad_copy": 1, "chad_are_doubles": 8, "chad_are_floats": 4},
}

_NAME = r"[%@][\w.]+"
_LOAD = re.compile(rf"  (%[\w.]+) = load (?:atomic |volatile )?(.+?), ptr ({_NAME})")
_STORE = re.compile(rf"  store (?:atomic |volatile )?(.+), ptr ({_NAME})")
_STEP = re.compile(
    rf"  (%[\w.]+) = getelementptr (inbounds )?(.+?), ptr ({_NAME}), (.+)"
)
_ALLOCA = re.compile(r"  (%[\w.]+) = alloca ([^,]+(?:, (?!align).*})?)(?:, align \d+)?")
_MASKED = re.compile(
    r"  .*call .*@llvm\.masked\.(load|store)\.[\w.]+\((?:(<.+?>) .+, )?"
    rf"ptr ({_NAME}), i32 \d+, <(\d+) x i1> (%[\w.]+)(?:, (<.+?>) .+)?\)"
)
_CALL = re.compile(rf"  .*call \w+ @({'|'.join(map(re.escape, _BULK))})\((.*)\)")
_VERSION = re.compile(
    r"  .*@chad_san_array_(?:with|resized)\(ptr \S+, ptr \S+, ptr (\S+), "
    rf"(?:i64|ptr) (\S+), i64 (\S+), ptr ({_NAME})\)"
)
_ARITHMETIC = re.compile(r"  (%[\w.]+) = (add|sub|mul)(?: nuw| nsw)* i64 (\S+), (\S+)$")
_CHOICE = re.compile(r"  (%[\w.]+) = select i1 (\S+), i64 (\S+), i64 (\S+)$")
_DEFINED = re.compile(r'define .*?@("[^"]+"|[\w.]+)\(')
_INPUT = re.compile(
    r"ptr noalias readonly(?: captures\(none\))? (%[\w.]+)"
    r"((?:, i64 range\(i64 0, \d+\) %[\w.]+)*)"
)
_CONSTANT = re.compile(
    r"^@(chad_data_\d+) = private unnamed_addr constant \[(\d+) x i8\]", re.M
)

# The inline allocation of `runtime.emit_arena_alloc`, and one that always asks.
_BUMP = re.compile(r"^  (%bump_fits\.\d+) = .*$", re.M)
_NEVER = r"  \1 = icmp ne i64 0, 0"

# The frames of a call: what is in them, generated code finds by constants.
_FRAMES = ("%ctx", "%results")


def sanitized(
    text: str, function: LoopFunction, symbol: str, data: Mapping[str, int]
) -> str:
    """The text of a module with checks; `data`: the bytes of arrays that are linked."""
    names = "|".join(_WRAPPED)
    text = re.sub(rf"@chad_({names})\(", r"@chad_san_\1(", text)
    text = _BUMP.sub(_NEVER, text)
    known = {name: int(size) for name, size in _CONSTANT.findall(text)}
    sentences: dict[str, str] = {}
    lines: list[str] = []
    body: list[str] | None = None
    for line in text.split("\n"):
        if line.startswith("define ") and line.endswith("{"):
            body = [line]
        elif body is None:
            lines.append(line)
        elif line != "}":
            body.append(line)
        else:
            checked = _Checked(body, sentences)
            if checked.symbol == symbol:
                checked.begin(function, {**known, **data})
            lines += [*checked.lines(), line]
            body = None
    strings = (_string(name, what) for what, name in sentences.items())
    return "\n".join([*strings, _DECLARATIONS, *lines])


def _string(name: str, what: str) -> str:
    content = [*what.encode(), 0]
    escaped = "".join(f"\\{byte:02X}" for byte in content)
    return f'{name} = private unnamed_addr constant [{len(content)} x i8] c"{escaped}"'


def _size(ty: str) -> str:
    return f"ptrtoint (ptr getelementptr ({ty}, ptr null, i64 1) to i64)"


def _type_of(operand: str) -> str:
    """The type of an operand with its type."""
    is_vector = operand.startswith("<")
    return operand[: operand.index(">") + 1] if is_vector else operand.split()[0]


def _plain(name: str) -> str:
    """A name as the program has it."""
    return re.sub(r"\.\d+$", "", name[1:])


class _Checked:
    """A function whose accesses are being checked."""

    def __init__(self, lines: Sequence[str], sentences: dict[str, str]) -> None:
        defined = _DEFINED.match(lines[0])
        assert defined is not None
        self.symbol = defined[1]
        self._head, self._lines, self._sentences = lines[0], lines[1:], sentences
        self._begin: list[str] = []
        self._end: list[str] = []
        self._is_entry = False
        self._count = 0
        self._steps = {m[1]: m for m in map(_STEP.match, self._lines) if m}
        self._sums = {m[1]: m for m in map(_ARITHMETIC.match, self._lines) if m}
        self._sums |= {m[1]: m for m in map(_CHOICE.match, self._lines) if m}
        self._allocated = {m[1]: m[2] for m in map(_ALLOCA.match, self._lines) if m}
        self._indices = self._of_indices()

    def begin(self, function: LoopFunction, data: Mapping[str, int]) -> None:
        """This is the function that is called from outside."""
        self._is_entry = True
        for name, size in data.items():
            self._begin.append(f"  call void @chad_san_buffer(ptr @{name}, i64 {size})")
        arrays = [p for p in function.params if isinstance(p, ArrayParam)]
        for param, found in zip(arrays, _INPUT.finditer(self._head), strict=True):
            self._input(found[1], re.findall(r"%[\w.]+", found[2]), BYTES[param.elem])
        self._head = _INPUT.sub(r"ptr \1.given\2", self._head)

    def _input(self, name: str, dims: Iterable[str], size: int) -> None:
        total = str(size)
        for dim in dims:
            product = self._fresh()
            self._begin.append(f"  {product} = mul i64 {total}, {dim}")
            total = product
        copy = f"call ptr @chad_san_input(ptr {name}.given, i64 {total})"
        self._begin.append(f"  {name} = {copy}")
        given = f"ptr {name}, ptr {name}.given, i64 {total}"
        self._end.append(f"  call void @chad_san_input_free({given})")

    def lines(self) -> Iterator[str]:
        """The function from its head on, without the bracket at its end."""
        yield self._head
        if self._lines[0] != "entry:":
            yield from self._begin
        for line in self._lines:
            yield from self._line(line)
            if line == "entry:":
                yield from self._begin

    def _line(self, line: str) -> Iterator[str]:
        if "@llvm.masked." in line:
            yield from self._masked(line)
        elif found := _LOAD.match(line):
            yield from self._access(line, "load", found[2], found[3])
        elif found := _STORE.match(line):
            yield from self._access(line, "store", _type_of(found[1]), found[2])
        elif found := _CALL.match(line):
            yield from self._bulk(line, found[1], found[2])
        elif found := _VERSION.match(line):
            yield from self._version(line, *found.groups())
        elif re.match(r"\s+(%\S+ = )?(load|store|atomicrmw|cmpxchg) ", line):
            raise InternalError(f"an access that is not understood: {line}")
        elif self._is_entry and line.startswith("  ret i32 "):
            status = self._fresh()
            yield from self._end
            yield f"  {status} = call i32 @chad_san_end(i32 {line.split()[-1]})"
            yield f"  ret i32 {status}"
        else:
            yield line
            yield from self._after(line)

    def _after(self, line: str) -> Iterator[str]:
        """What follows an instruction that stays as it is."""
        if found := _STEP.match(line):
            yield from self._step(found)
        elif (found := _ARITHMETIC.match(line)) and found[1] in self._indices:
            yield from self._overflow(found)
        elif (found := _CHOICE.match(line)) and found[1] in self._indices:
            name, cond, *others = found.groups()
            one, other = (f"i1 {self._wrong(each)}" for each in others)
            yield f"  {name}..wrong = select i1 {cond}, {one}, {other}"
        elif (found := _ALLOCA.match(line)) and self._escapes(found[1], found[2]):
            size = _size(found[2])
            yield f"  call void @chad_san_buffer(ptr {found[1]}, i64 {size})"

    # Accesses.

    def _access(self, line: str, kind: str, ty: str, at: str) -> Iterator[str]:
        if self._is_frame(at) or self._allocated.get(at) == ty:
            yield line
            return
        place, base = self._fresh(), self._base(at)
        what = self._what(kind, at)
        where = f"ptr {base}, ptr {at}, i64 {_size(ty)}, ptr {what}"
        yield f"  {place} = call ptr @chad_san_access({where})"
        yield self._moved(line, at, place)

    def _masked(self, line: str) -> Iterator[str]:
        found = _MASKED.match(line)
        if found is None:
            raise InternalError(f"a masked access that is not understood: {line}")
        kind, stored, at, count, mask, loaded = found.groups()
        bits, here, place = self._fresh(), self._fresh(), self._fresh()
        yield f"  {bits} = bitcast <{count} x i1> {mask} to i{count}"
        yield f"  {here} = zext i{count} {bits} to i64"
        what = self._what(f"masked {kind}", at)
        size = f"i64 {_size(stored or loaded)}, i64 {count}, i64 {here}"
        where = f"ptr {self._base(at)}, ptr {at}, {size}, ptr {what}"
        yield f"  {place} = call ptr @chad_san_masked({where})"
        yield self._moved(line, at, place)

    def _bulk(self, line: str, name: str, args: str) -> Iterator[str]:
        counts = re.findall(r"i64 (%?[\w.]+)", args)
        scale, given = _BULK[name], f"i64 {counts[-1]}"
        size = self._fresh()
        yield f"  {size} = mul i64 {counts[-1]}, {scale}"
        wide, what = self._fresh(), self._what("the size", counts[-1])
        yield f"  {wide} = zext i1 {self._wrong(counts[-1])} to i32"
        yield f"  call void @chad_san_overflow(i32 {wide}, ptr {what})"
        for at in re.findall(rf"ptr (?:align \d+ )?({_NAME})", args):
            if not self._is_frame(at):
                some, what = self._fresh(), self._what(f"{name} of", at)
                where = f"ptr {at}, i64 {size}, ptr {what}"
                yield f"  {some} = call i64 @chad_san_bytes({where})"
                size = some
        left = self._fresh()
        yield f"  {left} = udiv i64 {size}, {scale}"
        first, _, last = line.rpartition(given)
        yield f"{first}i64 {left}{last}"

    def _version(
        self, line: str, array: str, offset: str, count: str, words: str
    ) -> Iterator[str]:
        """Words of an array become others: both are there, or none is written."""
        written = count
        if "array_with" in line:
            wide, what = self._fresh(), self._what("the place in", array)
            yield f"  {wide} = zext i1 {self._wrong(offset)} to i32"
            yield f"  call void @chad_san_overflow(i32 {wide}, ptr {what})"
            written = self._fresh()
            where = f"ptr {array}, i64 {offset}, i64 {count}, ptr {what}"
            yield f"  {written} = call i64 @chad_san_words({where})"
        size, some, left = self._fresh(), self._fresh(), self._fresh()
        yield f"  {size} = mul i64 {written}, 8"
        where = f"ptr {words}, i64 {size}, ptr {self._what('the words of', words)}"
        yield f"  {some} = call i64 @chad_san_bytes({where})"
        yield f"  {left} = udiv i64 {some}, 8"
        first, _, last = line.rpartition(f"i64 {count}, ptr {words}")
        yield f"{first}i64 {left}, ptr {words}{last}"

    def _step(self, found: re.Match[str]) -> Iterator[str]:
        _, inbounds, ty, base, index = found.groups()
        number = re.fullmatch(r"i64 (-?[\w.%]+)", index)
        if not inbounds or number is None or self._is_frame(base):
            return
        wide, what = self._fresh(), self._what("a pointer to", found[1])
        yield f"  {wide} = zext i1 {self._wrong(number[1])} to i32"
        args = f"ptr {base}, i64 {number[1]}, i64 {_size(ty)}, i32 {wide}, ptr {what}"
        yield f"  call void @chad_san_step({args})"

    # The arithmetic of indices.

    def _of_indices(self) -> frozenset[str]:
        """The sums, products and choices that indices and sizes are made of."""
        waiting = [m[5].split()[-1] for m in self._steps.values()]
        for found in map(_CALL.match, self._lines):
            waiting += re.findall(r"i64 (%[\w.]+)", found[2]) if found else []
        waiting += [m[2] for m in map(_VERSION.match, self._lines) if m]
        seen = set[str]()
        while waiting:
            name = waiting.pop()
            if name in self._sums and name not in seen:
                seen.add(name)
                waiting += self._sums[name].groups()[-2:]
        return frozenset(seen)

    def _overflow(self, found: re.Match[str]) -> Iterator[str]:
        name, op, *operands = found.groups()
        pair, own, given = self._fresh(), self._fresh(), self._fresh()
        function = f"@llvm.s{op}.with.overflow.i64"
        args = ", ".join(f"i64 {operand}" for operand in operands)
        yield f"  {pair} = call {{i64, i1}} {function}({args})"
        yield f"  {own} = extractvalue {{i64, i1}} {pair}, 1"
        yield f"  {given} = or i1 {', '.join(map(self._wrong, operands))}"
        yield f"  {name}..wrong = or i1 {own}, {given}"

    def _wrong(self, name: str) -> str:
        """Whether an operand has overflowed."""
        return f"{name}..wrong" if name in self._indices else "false"

    # Pointers.

    def _base(self, at: str) -> str:
        """The pointer that an address starts from."""
        found = self._steps.get(at)
        return found[4] if found is not None and found[2] else at

    def _is_frame(self, at: str) -> bool:
        """Whether it is in the frames of a call, or a variable of the module."""
        base = at
        while base in self._steps:
            base = self._steps[base][4]
        is_global = base.startswith("@") and not base.startswith("@chad_data_")
        return base in _FRAMES or is_global

    def _escapes(self, name: str, ty: str) -> bool:
        """Whether a stack slot is used by more than loads and stores of all of it."""
        uses = re.compile(re.escape(name) + r"(?![\w.])")
        for line in self._lines:
            if uses.search(line) and not self._is_own(line, name, ty):
                return True
        return False

    def _is_own(self, line: str, name: str, ty: str) -> bool:
        if found := _LOAD.match(line):
            return found[3] == name and found[2] == ty
        if found := _STORE.match(line):
            stored = found[1]
            return found[2] == name and stored.split()[-1] != name
        return _ALLOCA.match(line) is not None

    def _moved(self, line: str, at: str, place: str) -> str:
        """The access at another place; LLVM knows nothing of what that is."""
        first, _, last = line.rpartition(f"ptr {at}")
        return f"{first}ptr {place}{last}"

    # Names.

    def _what(self, kind: str, name: str) -> str:
        """The string that tells what is done, and where."""
        found = self._steps.get(name)
        place = _plain(name)
        if found is not None:
            index = found[5].split()[-1]
            index = _plain(index) if index[0] == "%" else index
            place = f"{_plain(found[4])}[{index}]"
        function = self.symbol.strip('"').removeprefix("chad_fn_")
        text = f"{function}: {kind} {place}"
        return self._sentences.setdefault(text, f"@chad_what_{len(self._sentences)}")

    def _fresh(self) -> str:
        self._count += 1
        return f"%san..{self._count}"
