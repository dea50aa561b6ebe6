"""The one table of the constructs that programs are made of.

A row names the section of `docs/language.md` or `docs/functions.md` that documents it.
Expressions are mostly templates, whose braces hold the kinds of their operands:

    calls("Reductions", "float", "np.sum({vec})", "np.max({vec})")

Statements, and expressions that bind variables, are functions of the writer:

    @expression("Comprehensions and loops", "float")
    def generator_sum(w: Writer) -> str: ...
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.campaign.writer import Writer

Make = Callable[["Writer"], str]
Emit = Callable[["Writer"], None]
Maker = Callable[["Writer"], "str | None"]

STATEMENT = "statement"
PLACE = re.compile(r"\{(\w+)\}")


class Unsuitable(Exception):
    """A row has no meaning at this place: another one is taken."""


@dataclass(frozen=True)
class Row:
    """A construct: where it is documented, the kind of its value, its text.

    The weight is how often it is taken among the rows of its kind.
    """

    name: str
    section: str
    kind: str
    weight: float
    make: Maker
    text: str
    number: int


TABLE: list[Row] = []


def of_kind(kind: str) -> list[Row]:
    return [row for row in TABLE if row.kind == kind]


def calls(section: str, kind: str, *templates: str, weight: float = 1.0) -> None:
    """Enter a row for each template."""
    for template in templates:
        name = PLACE.sub(lambda found: found[1], template)
        _enter(name, section, kind, weight, filled(template), template)


def filled(template: str) -> Make:
    """The maker of a template: an operand for each of its braces."""

    def make(w: Writer) -> str:
        return PLACE.sub(lambda found: w.expr(found[1]), template)

    return make


def expression(section: str, kind: str, weight: float = 1.0) -> Callable[[Make], Make]:
    """Decorator: a row whose function gives the text of an expression."""

    def enter(make: Make) -> Make:
        _enter(make.__name__, section, kind, weight, make, inspect.getsource(make))
        return make

    return enter


def statement(section: str, weight: float = 1.0) -> Callable[[Emit], Emit]:
    """Decorator: a row whose function writes lines."""

    def enter(make: Emit) -> Emit:
        text = inspect.getsource(make)
        _enter(make.__name__, section, STATEMENT, weight, make, text)
        return make

    return enter


def _enter(
    name: str, section: str, kind: str, weight: float, make: Maker, text: str
) -> None:
    assert all(row.name != name or row.kind != kind for row in TABLE), name
    TABLE.append(Row(name, section, kind, weight, make, text, len(TABLE)))
