"""What things are called in C: names of Python's as identifiers, each given once."""

from __future__ import annotations

import re

# What C and C++ use, or their headers may.
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch
    char class compl concept const constexpr const_cast continue co_await co_return
    co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int int64_t int32_t interface long
    main mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast requires restrict return short signed
    size_t sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof uint64_t uint8_t union
    unsigned using virtual void volatile wchar_t while xor xor_eq errno signgam NULL
    stdin stdout stderr linux unix
    """,
    )
)

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def is_plain(name: str) -> bool:
    """Whether a name may be that of a library, or of a function in it."""
    return _PLAIN.fullmatch(name) is not None and name not in _KEYWORDS


def identifier(name: str) -> str:
    """A name of Python's in C; what C does not know is written by its number."""
    text = "".join(c if c.isascii() and c.isalnum() else _escaped(c) for c in name)
    if not text or not text[0].isalpha():
        text = "p" + text
    return text + "_" if text in _KEYWORDS else text


def _escaped(letter: str) -> str:
    return "_" if letter == "_" or letter.isascii() else f"u{ord(letter):x}"


class Names:
    """Names that are given once."""

    def __init__(self, taken: frozenset[str] | set[str] = frozenset()) -> None:
        self._taken = set(taken)

    def new(self, wanted: str) -> str:
        """This name, or one like it if it is taken."""
        name, number = identifier(wanted), 2
        while name in self._taken:
            name, number = f"{identifier(wanted)}_{number}", number + 1
        self._taken.add(name)
        return name


def c_string(text: str) -> str:
    """A C string; other letters than ASCII's by their bytes."""
    plain = set(map(chr, range(32, 127))) - set('"\\?')
    parts = [
        chr(b) if chr(b) in plain else f"\\{b:03o}"
        for b in text.encode("utf-8", "replace")
    ]
    return '"' + "".join(parts) + '"'
