"""What a code means: the rule of a message, with an example of either kind.

A rule is told in the docstring of the function that describes it (`codes.py`): a title,
a few sentences, and mostly a program that fails with this code and one that works.
"""

from __future__ import annotations

import difflib
import textwrap
from dataclasses import dataclass

# Whoever describes mistakes, so that all are known.
import chadllvm.frontend.translation
import chadllvm.plan  # noqa: F401
from chadllvm.codes import RULES, Rule

FAMILIES = {
    "01": "Functions as a whole",
    "02": "What is not in the language",
    "03": "Names",
    "04": "Results, branches, loops",
    "05": "Operands, indices, tuples",
    "06": "Calls and their arguments",
    "07": "Arrays",
    "08": "Updates and lists",
    "09": "Records and dictionaries",
    "10": "Derivatives",
    "11": "Functions as values",
    "13": "Recursion",
    "14": "Unions",
    "15": "Derivatives of your own",
    "16": "Lists of arrays",
    "17": "Recursive data",
    "18": "Arguments of calls, and exported libraries",
    "19": "Sets",
}

# What the examples take for granted.
PREAMBLE = """\
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import chadllvm as cl
"""


class UnknownCode(Exception):
    """There is no rule of this code; the message names some that are close."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The parts of a rule's text; `fails` and `works` are programs, or empty."""

    rule: str
    fails: str
    works: str


def find_rule(code: str) -> Rule:
    """The rule of a code, however its letters are written.

    Raises:
        UnknownCode: if there is none.
    """
    wanted = code.strip().upper()
    if wanted.isdecimal():
        wanted = f"CL{wanted}"
    if wanted in RULES:
        return RULES[wanted]
    close = difflib.get_close_matches(wanted, sorted(RULES), n=3, cutoff=0.7)
    near = f"; close to it are {', '.join(close)}" if close else ""
    raise UnknownCode(f"there is no code {code!r}{near} (`explain --list` shows all)")


def parts(rule: Rule) -> Explanation:
    """The text of a rule, taken apart."""
    text, _, examples = rule.text.partition("\nFails:\n")
    fails, _, works = examples.partition("\nWorks:\n")
    return Explanation(text.strip(), _program(fails), _program(works))


def _program(text: str) -> str:
    return textwrap.dedent(text).strip()


def explain(code: str) -> str:
    """What `python -m chadllvm explain CODE` prints."""
    rule = find_rule(code)
    return f"{rule.code}: {rule.text}"


def listed() -> str:
    """All codes with their rules, family by family."""
    lines = []
    for family, title in FAMILIES.items():
        lines.append(f"{title}\n")
        lines += [f"  {rule.code}  {rule.title}" for rule in _rules(family)]
        lines.append("")
    return "\n".join(lines[:-1])


def _rules(family: str) -> list[Rule]:
    return [RULES[code] for code in sorted(RULES) if code[2:4] == family]


def page() -> str:
    """`docs/errors.md`: every rule with its examples."""
    text = [_HEAD.format(preamble=PREAMBLE)]
    for family, title in FAMILIES.items():
        text.append(f"## {title}\n")
        text += [_section(rule) for rule in _rules(family)]
    return "\n".join(text)


_HEAD = """\
# Errors of the compiler

Every message has a code, which names one rule of the language.
`python -m chadllvm explain CL0401` tells the rule; this page tells all of them. A code
is never given to another rule. The page is made from the compiler's own text
(`chadllvm/explain.py`); the examples are compiled by the tests, after

```python
{preamble}```
"""


def _section(rule: Rule) -> str:
    told = parts(rule)
    title, _, rest = told.rule.partition("\n")
    text = f"### {rule.code}: {title.removesuffix('.')}\n"
    if rest.strip():
        text += f"\n{rest.strip()}\n"
    if told.fails:
        text += f"\nFails:\n\n```py\n{told.fails}\n```\n"
        text += f"\nWorks:\n\n```py\n{told.works}\n```\n"
    return text
