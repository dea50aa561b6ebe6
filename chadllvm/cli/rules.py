"""What a code means: the rule of a message, with an example of either kind.

The rules are told in the pages of `docs/errors/`, one for each family of codes, which
an installed package has in `rules/`: a title, a few sentences, and mostly a program
that fails with this code and one that works.
"""

from __future__ import annotations

import difflib
import functools
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chadllvm.support.package import FOLDER

_SECTION = re.compile(r"^## (CL\d{4}): (.*)\n", re.MULTILINE)
_PROGRAM = r"{}:\n\n```py\n(.*?)```\n"


class UnknownCode(Exception):
    """There is no rule of this code; the message names some that are close."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that a program can break; `fails` and `works` are programs, or empty.

    `family` says what the rules of its page are about.
    """

    code: str
    family: str
    title: str
    text: str
    fails: str
    works: str

    def __str__(self) -> str:
        told = [f"{self.code}: {self.title}.\n"]
        told += [f"{self.text}\n"] if self.text else []
        if self.fails:
            for name, program in (("Fails", self.fails), ("Works", self.works)):
                told.append(f"{name}:\n\n{textwrap.indent(program, '    ')}")
        return "\n".join(told).rstrip("\n")


@functools.cache
def rules() -> Mapping[str, Rule]:
    """All rules by their codes, in order."""
    found = {}
    for path in sorted(_folder().glob("[0-9]*.md")):
        head, *parts = _SECTION.split(path.read_text(encoding="utf-8"))
        family = head.removeprefix("# ").strip()
        for code, title, body in zip(*(iter(parts),) * 3, strict=True):
            fails, works = (_program(name, body) for name in ("Fails", "Works"))
            text = body.partition("\nFails:\n")[0].strip()
            found[code] = Rule(code, family, title, text, fails, works)
    return found


def _folder() -> Path:
    here = Path(FOLDER)
    installed = here / "rules"
    return installed if installed.exists() else here.parent / "docs" / "errors"


def _program(name: str, body: str) -> str:
    found = re.search(_PROGRAM.format(name), body, re.DOTALL)
    return found[1] if found else ""


def find_rule(code: str) -> Rule:
    """The rule of a code, however its letters are written.

    Raises:
        UnknownCode: if there is none.
    """
    wanted = code.strip().upper()
    if wanted.isdecimal():
        wanted = f"CL{wanted}"
    if wanted in rules():
        return rules()[wanted]
    close = difflib.get_close_matches(wanted, rules(), n=3, cutoff=0.7)
    near = f"; close to it are {', '.join(close)}" if close else ""
    raise UnknownCode(f"there is no code {code!r}{near} (`explain --list` shows all)")


def explain(code: str) -> str:
    """What `python -m chadllvm explain CODE` prints."""
    return str(find_rule(code))


def listed() -> str:
    """All codes with their rules, family by family."""
    families: dict[str, list[str]] = {}
    for rule in rules().values():
        line = f"  {rule.code}  {rule.title}.\n"
        families.setdefault(rule.family, []).append(line)
    texts = (f"{family}\n\n{''.join(lines)}" for family, lines in families.items())
    return "\n".join(texts).rstrip("\n")
