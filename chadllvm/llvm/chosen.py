"""What is read, chosen or not, and stored where it was.

    x = p[j]                              x = freeze p[j]
    y = select(c, a, x)             →     y = select(c, a, x)
    p[j] = y                              p[j] = y

LLVM 22 makes a store under a mask of the vectors on the left (`foldToMaskedStore`),
which takes twenty times as long as the store of a vector on processors of the families
Zen 1 to 3. It does not where the element is frozen, which costs nothing and changes
nothing: what is read is a number.
"""

from __future__ import annotations

from collections.abc import Iterable

from chadllvm.ir.loops import Atom, Let, Load, Reg, Stmt, Store


def chosen(body: Iterable[Stmt]) -> set[Reg]:
    """What is read that may be stored again in the same place."""
    found: set[Reg] = set()
    reads: dict[Reg, int] = {}
    choices: dict[Atom, list[Reg]] = {}
    for stmt in body:
        match stmt:
            case Load(reg, root=root):
                reads[reg] = root
            case Let(reg, "select", (_, *sides)):
                choices[reg] = [s for s in sides if isinstance(s, Reg) and s in reads]
            case Store(value=value, root=root):
                found.update(
                    reg for reg in choices.get(value, ()) if reads[reg] == root
                )
            case _:
                pass
    return found
