"""Writes the text of a function: variables in scope, fuel, and operands by kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random

from tests.campaign.kinds import ARRAYS, CLASSES, LEAVES, SHARES
from tests.campaign.table import STATEMENT, TABLE, Row, Unsuitable

ATOMS = (
    *(ast.Name, ast.Constant, ast.Call, ast.Subscript, ast.Attribute),
    *(ast.List, ast.Tuple, ast.Dict),
)
# What many programs do without, or most would have it: it keeps oracles from speaking.
THEMES = {
    "singles": re.compile(r"f32|vec32|float32|single"),
    "derivatives": re.compile(r"['\"]derivatives['\"]|['\"]hides['\"]"),
    "recursive data": re.compile(r"tree\b|chain|Tree|Chain"),
}
# The kinds of parameters that belong to a theme.
KINDS = {
    "singles": ("f32", "vec32"),
    "derivatives": (),
    "recursive data": ("tree", "chain"),
}
DEEPEST = 3  # of statements in statements
PLAIN = ("assignment", "rebinding", "augmented", "element_update", "array_of_ours")


@dataclass
class Variable:
    """A name in scope.

    level: of the function that it belongs to; inner ones cannot assign it.
    is_ours: an array that no other name sees, which may be updated.
    is_fixed: it is captured, or seen by another name, and so is not assigned.
    """

    name: str
    kind: str
    level: int = 0
    is_ours: bool = False
    is_fixed: bool = False


@dataclass
class Writer:
    """One function at work. `expr` and `statement` take rows of the table by weight."""

    random: Random
    lines: list[str] = field(default_factory=list)
    scope: list[Variable] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    needs: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    results: tuple[str, ...] = ("float",)
    indent: int = 1
    level: int = 0
    depth: int = 0
    loops: int = 0
    fuel: int = 40
    number: int = 0
    rows: dict[str, list[Row]] = field(default_factory=dict)

    left_out: set[str] = field(default_factory=set)
    shares: Mapping[str, str] = field(default_factory=lambda: SHARES)

    def __post_init__(self) -> None:
        self.leave_out(set())

    def leave_out(self, themes: set[str]) -> None:
        """Take no rows of these themes."""
        self.rows, texts = {}, [THEMES[theme] for theme in themes]
        self.left_out = {kind for theme in themes for kind in KINDS[theme]}
        for row in TABLE:
            if not any(text.search(row.text) for text in texts):
                self.rows.setdefault(row.kind, []).append(row)

    def favour(self, factors: Mapping[str, float], more: Sequence[Row]) -> None:
        """Take some statements more often, or never, and some not in the table."""
        rows = [
            replace(row, weight=row.weight * factors.get(row.name, 1.0))
            for row in self.rows[STATEMENT]
            if factors.get(row.name, 1.0) > 0.0
        ]
        self.rows[STATEMENT] = [*rows, *more]

    # ---- names -------------------------------------------------------------------

    def fresh(self, letter: str = "t") -> str:
        self.number += 1
        return f"{letter}{self.number}"

    def variables(self, kind: str) -> list[Variable]:
        return [v for v in self.scope if v.kind == kind]

    def a_variable(self, *kinds: str, ours: bool = False, here: bool = False) -> str:
        """A name of a variable that may be updated (`ours`), or assigned (`here`)."""
        found = [
            v
            for v in self.scope
            if v.kind in kinds
            and (not ours or (v.is_ours and not v.is_fixed and v.level == self.level))
            and (not here or (not v.is_fixed and v.level == self.level))
        ]
        if not found:
            raise Unsuitable
        return self.random.choice(found).name

    def declare(self, name: str, kind: str, *, ours: bool = False) -> str:
        self.scope = [v for v in self.scope if v.name != name]
        self.scope.append(Variable(name, kind, self.level, ours))
        return name

    def kept(self, kind: str) -> str:
        """A value under another name: an array is a copy, or fixed for good."""
        text = self.expr(kind)
        if kind not in ARRAYS:
            return text
        seen = [v for v in self.scope if v.is_ours and _names(text, v.name)]
        if not seen:
            return text
        if self.loops or self.random.random() < 0.5:
            return f"({text}).copy()"
        for variable in seen:
            variable.is_fixed = True
        return text

    def capture(self, text: str) -> str:
        """What a function that is kept has captured is not assigned any more."""
        for variable in self.scope:
            if _names(text, variable.name):
                if self.loops and variable.level == self.level and variable.is_ours:
                    raise Unsuitable
                variable.is_fixed = True
        return text

    def need(self, *names: str) -> None:
        """Ask for definitions before the function."""
        self.needs += [name for name in names if name not in self.needs]

    # ---- expressions -------------------------------------------------------------

    def expr(self, kind: str) -> str:
        """An expression of this kind."""
        if self.depth <= 0 or self.random.random() < 0.2 or self.fuel <= 0:
            return self.leaf(kind)
        return self.compound(kind)

    def leaf(self, kind: str) -> str:
        variables = self.variables(kind)
        if variables and self.random.random() < 0.85:
            recent = variables[-4:] if self.random.random() < 0.6 else variables
            return self.random.choice(recent).name
        if kind in LEAVES:
            return self.literal(kind)
        if not self.rows.get(kind):
            raise Unsuitable
        return self.compound(kind)

    def literal(self, kind: str) -> str:
        if kind in CLASSES:
            self.need(CLASSES[kind])
        return self.random.choice(LEAVES[kind])

    def compound(self, kind: str) -> str:
        rows = self.rows.get(kind, [])
        for _ in range(12):
            if not rows:
                break
            text = self._attempt(self.a_row(rows))
            if text is not None:
                return text
        if variables := self.variables(kind):
            return self.random.choice(variables).name
        if kind in LEAVES:
            return self.literal(kind)
        raise Unsuitable

    def a_row(self, rows: list[Row]) -> Row:
        """By weight, or by weight within a section that is as likely as any."""
        if self.chance(0.4):
            section = self.random.choice(sorted({row.section for row in rows}))
            rows = [row for row in rows if row.section == section]
        return self.random.choices(rows, [row.weight for row in rows])[0]

    def _attempt(self, row: Row) -> str | None:
        """The text of a row, or None, with nothing changed, where it does not fit."""
        before = (
            len(self.lines),
            list(self.scope),
            self.depth,
            self.level,
            self.indent,
        )
        known = (set(self.used), list(self.needs), set(self.flags), self.loops)
        self.depth -= row.kind != STATEMENT
        self.fuel -= 1
        try:
            text = row.make(self) or ""
        except Unsuitable:
            del self.lines[before[0] :]
            _, self.scope, self.depth, self.level, self.indent = before
            self.used, self.needs, self.flags, self.loops = known
            return None
        self.depth = before[2]
        if row.kind == STATEMENT:
            self.used.add(row.name)
            return text
        return marked(row, whole(text))

    def result(self) -> str:
        """What the function returns."""
        parts = [self.expr(kind) for kind in self.results]
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    # ---- statements --------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def statement(self) -> None:
        """A statement; once the fuel is gone, the plainest there are."""
        rows = self.rows[STATEMENT]
        if self.fuel <= 0:
            rows = [row for row in rows if row.name in PLAIN]
        for _ in range(12):
            if self._attempt(self.a_row(rows)) is not None:
                return
        self.line("pass")

    def block(self, most: int = 3) -> None:
        """Some statements, with variables of their own."""
        with self.inside():
            known = len(self.scope)
            for _ in range(self.random.randint(1, most)):
                self.statement()
            self.settle(known)

    def settle(self, known: int) -> None:
        """Let what a block has made have its share in a variable from outside of it."""
        made = [v for v in self.scope[known:] if v.kind in SHARES]
        outer = [
            v
            for v in self.scope[:known]
            if v.kind == "float" and v.level == self.level and not v.is_fixed
        ]
        if made and outer and self.chance(0.8):
            name = self.random.choice(outer).name
            share = self.shares[made[-1].kind].format(made[-1].name)
            self.line(f"{name} = 0.5 * {name} + {share}")

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Lines that are indented; what they declare ends with them."""
        if self.indent > DEEPEST + self.level:
            raise Unsuitable
        before = list(self.scope)
        self.indent += 1
        yield
        self.indent -= 1
        self.scope = before

    @contextmanager
    def looped(self) -> Iterator[None]:
        """The body of a loop; loops are not nested deeper than two."""
        if self.loops >= 2:
            raise Unsuitable
        self.loops += 1
        with self.inside():
            yield
        self.loops -= 1

    @contextmanager
    def bound(self, *kinds: str) -> Iterator[list[str]]:
        """Variables of a comprehension or a lambda."""
        before = list(self.scope)
        names = [self.fresh() for _ in kinds]
        self.level += 1
        for name, kind in zip(names, kinds, strict=True):
            self.declare(name, kind)
        yield names
        self.level -= 1
        self.scope = before

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)


# Each row of an expression has a mark, so that the text tells which rows are in it:
# some of what is written is thrown away.
MARKS = range(0xE000, 0xF8FF)
MARK = re.compile(f"[{chr(MARKS[0])}-{chr(MARKS[-1])}]")


def marked(row: Row, text: str) -> str:
    return chr(MARKS[row.number]) + text


def unmarked(text: str) -> str:
    return MARK.sub("", text)


def marks(text: str) -> set[str]:
    """The names of the rows that a text is made of."""
    return {TABLE[ord(mark) - MARKS[0]].name for mark in MARK.findall(text)}


def whole(text: str) -> str:
    """An expression as an operand of any operator."""
    plain = unmarked(text)
    is_lambda = plain.startswith("(lambda")
    is_atom = isinstance(ast.parse(plain, mode="eval").body, ATOMS)
    return text if is_atom or is_lambda else f"({text})"


def _names(text: str, name: str) -> bool:
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        before = text[place - 1] if place else " "
        after = text[end] if end < len(text) else " "
        if not (before.isalnum() or before in "_.") and not (
            after.isalnum() or after == "_"
        ):
            return True
        place = text.find(name, end)
    return False
