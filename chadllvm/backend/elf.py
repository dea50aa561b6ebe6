"""An ELF object file → machine code in this process, without LLVM.

    .text  .rodata  .data      →      | code, stubs | constants, addresses | data |
    + relocations                     pages that are run, read, and written

The object is that of one module: all it needs from outside are functions and arrays at
known addresses. A call from outside goes over a stub, for they may lie farther away
than a call reaches; other addresses stand in a table. What an object has beyond that
(threads' own data, constructors, other processors) is `Unsupported`, and LLVM's linker
is to be asked, which takes longer to load than all else that a cached call needs.

The pages are written before they can be run, and never both at once.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

# e_ident: ELF, 64 bits, little endian, version 1; then a relocatable file for x86-64.
_IDENT = b"\x7fELF\x02\x01\x01"
_RELOCATABLE, _X86_64 = 1, 62

# Types and flags of sections.
_SYMTAB, _RELA, _NOBITS, _NOTE, _PROGBITS, _UNWIND = 2, 4, 8, 7, 1, 0x70000001
_WRITE, _ALLOC, _EXEC, _TLS = 1, 2, 4, 0x400

# The type of a symbol.
_FUNCTION = 2

# Sections of symbols that have none.
_UNDEFINED, _ABSOLUTE, _RESERVED = 0, 0xFFF1, 0xFF00

# Relocations of x86-64, with the bytes that they fill.
_R_64, _R_PC32, _R_PLT32, _R_PC64 = 1, 2, 4, 24
_R_GOT = (9, 41, 42)

_FILE = np.dtype(
    [
        *(("ident", "V16"), ("type", "<u2"), ("machine", "<u2"), ("version", "<u4")),
        *(("entry", "<u8"), ("phoff", "<u8"), ("shoff", "<u8"), ("flags", "<u4")),
        *(("ehsize", "<u2"), ("phentsize", "<u2"), ("phnum", "<u2")),
        *(("shentsize", "<u2"), ("shnum", "<u2"), ("shstrndx", "<u2")),
    ]
)
_SECTION = np.dtype(
    [
        *(("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("addr", "<u8")),
        *(("offset", "<u8"), ("size", "<u8"), ("link", "<u4"), ("info", "<u4")),
        *(("align", "<u8"), ("entsize", "<u8")),
    ]
)
# Where the address of a section is in its entry.
_ADDRESS = 16
_SYMBOL = np.dtype(
    [
        *(("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")),
        *(("value", "<u8"), ("size", "<u8")),
    ]
)
_RELOCATION = np.dtype(
    [("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")]
)

# `jmp *[rip + d]`, and what fills it to eight bytes.
_STUB, _STUB_SIZE = b"\xff\x25", 8


class Unsupported(Exception):
    """The object asks for what only a real linker does."""


def is_supported() -> bool:
    """Whether objects made for this process are of the kind that is understood."""
    return sys.platform == "linux" and os.uname().machine == "x86_64"


class _Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    align: int
    link: int
    info: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int
    size: int
    is_function: bool


class Image:
    """The code of an object, with the addresses of its own symbols.

    It is unmapped when nobody refers to it any more.
    """

    def __init__(self, code: bytes, imports: Callable[[str], int]) -> None:
        """`imports` gives the address of a symbol from outside, or a `LookupError`.

        Raises:
            Unsupported: if it needs more than that, or is no such object.
        """
        try:
            linked = _Linked(code, imports)
        except (LookupError, ValueError) as error:
            raise Unsupported(f"no whole object: {error}") from None
        self._pages = linked.pages
        self._symbols = linked.exported
        self._places = {k: linked.base + at for k, at in linked.at.items()}

    def __getitem__(self, symbol: str) -> int:
        """The address of a symbol that the object defines."""
        return self._symbols[symbol]

    def described(self, code: bytes) -> bytes:
        """The object with the addresses of its sections, as debuggers want it."""
        found = bytearray(code)
        start = int(np.frombuffer(code, _FILE, count=1)["shoff"][0])
        for k, place in self._places.items():
            at = start + k * _SECTION.itemsize + _ADDRESS
            found[at : at + 8] = place.to_bytes(8, "little")
        return bytes(found)


class _Linked:
    """One object being put into memory."""

    def __init__(self, code: bytes, imports: Callable[[str], int]) -> None:
        self.code, self.imports = code, imports
        self.sections = _sections(code)
        if np.frombuffer(code, _FILE, count=1)["machine"] != _X86_64:
            raise Unsupported("an object for another processor")
        self.symbols = _symbols(code, self.sections)
        self.relocations = [*self._read_relocations()]
        self._lay_out()
        self.pages = mmap.mmap(
            -1,
            self.size,
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
            prot=mmap.PROT_READ | mmap.PROT_WRITE,
        )
        self.bytes = np.frombuffer(self.pages, np.uint8)
        self.base: int = self.bytes.ctypes.data
        self._fill()
        for section, relocations in self.relocations:
            self._relocate(self.at[section], relocations)
        self._protect()
        self.exported = {
            symbol.name: self.base + self.at[symbol.section] + symbol.value
            for symbol in self.symbols
            if symbol.name and symbol.section in self.at
        }

    # ---- reading

    def _read_relocations(self) -> Iterator[tuple[int, np.ndarray]]:
        """The relocations of each section that is kept."""
        for section in self.sections:
            if section.flags & _TLS:
                raise Unsupported("data of threads")
            if section.flags & _ALLOC and section.kind not in _KEPT:
                raise Unsupported(f"a section of type {section.kind}")
            if section.kind != _RELA:
                continue
            if self.sections[section.info].flags & _ALLOC:
                yield (
                    section.info,
                    np.frombuffer(_content(self.code, section), _RELOCATION),
                )

    # ---- layout

    def _lay_out(self) -> None:
        """Give each section a place, group by group, and the stubs and addresses."""
        self.at: dict[int, int] = {}
        self.bounds: list[tuple[int, int]] = []
        outside = self._outside()
        end = 0
        for group in (_EXEC, 0, _WRITE):
            start = end
            for k, section in enumerate(self.sections):
                if section.flags & _ALLOC and _group(section) == group:
                    end = _up(end, max(section.align, 1))
                    self.at[k] = end
                    end += section.size
            if group == _EXEC:
                self.stubs = self._places(outside, end)
                end = _up(end, _STUB_SIZE) + _STUB_SIZE * len(outside)
            elif group == 0:
                self.slots = self._places(outside, end)
                end = _up(end, 8) + 8 * len(outside)
            end = _up(end, mmap.PAGESIZE)
            self.bounds.append((start, end))
        self.size = max(end, mmap.PAGESIZE)

    def _outside(self) -> list[int]:
        """The symbols that relocations need the address of, but for their own."""
        found = dict.fromkeys(
            int(number)
            for _, relocations in self.relocations
            for number, kind in zip(
                relocations["symbol"].tolist(),
                relocations["type"].tolist(),
                strict=True,
            )
            if self.symbols[number].section == _UNDEFINED or kind in _R_GOT
        )
        return [*found]

    def _places(self, symbols: Sequence[int], end: int) -> dict[int, int]:
        start = _up(end, 8)
        return {number: start + 8 * k for k, number in enumerate(symbols)}

    # ---- filling

    def _fill(self) -> None:
        for k, place in self.at.items():
            section = self.sections[k]
            if section.kind != _NOBITS and section.size:
                content = np.frombuffer(_content(self.code, section), np.uint8)
                self.bytes[place : place + section.size] = content
        for number, slot in self.slots.items():
            self._put(slot, self._address(number), 8)
            stub = self.stubs[number]
            self.pages[stub : stub + 2] = _STUB
            self._put(stub + 2, slot - (stub + 6), 4)

    def _address(self, number: int) -> int:
        """The address of a symbol, wherever it is."""
        symbol = self.symbols[number]
        if symbol.section == _UNDEFINED:
            return self.imports(symbol.name)
        if symbol.section == _ABSOLUTE:
            return symbol.value
        if symbol.section >= _RESERVED or symbol.section not in self.at:
            raise Unsupported(f"the symbol {symbol.name!r} in no section that is kept")
        return self.base + self.at[symbol.section] + symbol.value

    def _relocate(self, start: int, relocations: np.ndarray) -> None:
        columns = (relocations[name].tolist() for name in _RELOCATION.names or ())
        for offset, kind, number, addend in zip(*columns, strict=True):
            place = start + offset
            if kind == _R_64:
                self._put(place, self._address(number) + addend, 8)
                continue
            if kind in _R_GOT:
                target = self.base + self.slots[number]
            elif kind == _R_PLT32 and number in self.stubs:
                target = self.base + self.stubs[number]
            elif kind in (_R_PC32, _R_PLT32, _R_PC64):
                target = self._address(number)
            else:
                raise Unsupported(f"a relocation of type {kind}")
            size = 8 if kind == _R_PC64 else 4
            self._put(place, target + addend - (self.base + place), size)

    def _put(self, place: int, value: int, size: int) -> None:
        if size == 4 and not -(1 << 31) <= value < 1 << 31:
            raise Unsupported("a distance of more than 2 GB")
        word = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        self.pages[place : place + size] = word

    def _protect(self) -> None:
        rights = (mmap.PROT_READ | mmap.PROT_EXEC, mmap.PROT_READ)
        for (start, end), right in zip(self.bounds, rights, strict=False):
            if end > start and _mprotect()(self.base + start, end - start, right):
                raise Unsupported("the system lets no memory be run")


_KEPT = (_PROGBITS, _NOBITS, _NOTE, _UNWIND)


def _sections(code: bytes) -> list[_Section]:
    if code[: len(_IDENT)] != _IDENT:
        raise Unsupported("no ELF object")
    (head,) = np.frombuffer(code, _FILE, count=1)
    if head["type"] != _RELOCATABLE:
        raise Unsupported("no relocatable object")
    if head["shentsize"] != _SECTION.itemsize:
        raise Unsupported("sections of another size")
    found = np.frombuffer(
        code, _SECTION, count=int(head["shnum"]), offset=int(head["shoff"])
    )
    names = ("type", "flags", "offset", "size", "align", "link", "info")
    return [_Section(*(int(row[name]) for name in names)) for row in found]


def _symbols(code: bytes, sections: Sequence[_Section]) -> list[_Symbol]:
    tables = [s for s in sections if s.kind == _SYMTAB]
    if len(tables) != 1:
        raise Unsupported("an object without one table of symbols")
    names = _content(code, sections[tables[0].link])
    found = np.frombuffer(_content(code, tables[0]), _SYMBOL)
    return [
        _Symbol(
            *(_name(names, int(s["name"])), int(s["section"]), int(s["value"])),
            *(int(s["size"]), int(s["info"]) & 15 == _FUNCTION),
        )
        for s in found
    ]


def functions_beside(code: bytes, symbol: str) -> Iterator[tuple[str, int, int]]:
    """The functions in the section of one of them: name, distance from it, size.

    Raises:
        Unsupported: if it is no ELF object.
    """
    symbols = _symbols(code, _sections(code))
    own = next(s for s in symbols if s.name == symbol)
    for found in symbols:
        if found.is_function and found.section == own.section:
            yield found.name, found.value - own.value, found.size


def _content(code: bytes, section: _Section) -> bytes:
    end = section.offset + section.size
    if end > len(code):
        raise Unsupported("a section behind the end")
    return code[section.offset : end]


def _name(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode()


def _group(section: _Section) -> int:
    """What the pages of a section are for: code, constants or data."""
    if section.flags & _EXEC:
        if section.flags & _WRITE:
            raise Unsupported("code that is written to")
        return _EXEC
    return section.flags & _WRITE


def _up(value: int, align: int) -> int:
    return -(-value // align) * align


@functools.cache
def _mprotect() -> ctypes._NamedFuncPointer:
    function = ctypes.CDLL(None).mprotect
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    function.restype = ctypes.c_int
    return function
