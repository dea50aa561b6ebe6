"""The lanes that are here: those that take a branch, or are not done with a loop.

What the others compute is thrown away (`lower/varying.py`). They set nothing, and
where they would reach memory of their own they reach nothing:

    x = a[i + lane] where here     one vector, without those that are not here
    x = a[k] where here, k any     a[k] for each lane, or a spare place
"""

from __future__ import annotations

from chadllvm.ir.types import BOOL, Scalar
from chadllvm.llvm.lane_values import LaneValues, nothing
from chadllvm.llvm.types import BYTES, REGISTER, STORED


class LaneMasks(LaneValues):
    """What is done in some lanes only."""

    # The lanes that are here; empty for all.
    mask = ""

    _spares: dict[Scalar, str] | None = None

    def chosen(self, ty: Scalar, value: str, otherwise: str) -> str:
        """The value in the lanes that are here, something else in the others."""
        vector, mask = self.type(ty), f"{self.type(BOOL)} {self.mask}"
        text = f"select {mask}, {vector} {value}, {vector} {otherwise}"
        return self.state.out.let(text)

    def addend(self, ty: Scalar, value: str) -> str:
        """The value, which changes no sum in lanes that are not here."""
        return self.chosen(ty, value, self.all(nothing(ty), ty)) if self.mask else value

    def both(self, outer: str, mask: str) -> str:
        """The lanes that both masks have; without an outer one, the others."""
        if not outer:
            return mask
        ty, none = self.type(BOOL), self.all("false", BOOL)
        return self.state.out.let(f"select {ty} {outer}, {ty} {mask}, {ty} {none}")

    def any_here(self) -> str:
        """Whether there is a lane here."""
        size, of = self.count, f"{self.type(BOOL)} {self.mask}"
        return self.state.out.let(f"call i1 @llvm.vector.reduce.or.v{size}i1({of})")

    def reached(self, place: str, ty: Scalar, lane: int) -> str:
        """A lane's place in memory if it is here, else one that nobody looks at."""
        if not self.mask:
            return place
        self._spares = self._spares or {}
        if ty not in self._spares:
            text = f"[{self.count} x {STORED[ty]}]"
            self._spares[ty] = self.state.out.alloca(text, "spare")
        out, stored = self.state.out, STORED[ty]
        of = f"{self.type(BOOL)} {self.mask}"
        here = out.let(f"extractelement {of}, i64 {lane}")
        spare = f"getelementptr {stored}, ptr {self._spares[ty]}, i64 {lane}"
        return out.let(f"select i1 {here}, ptr {place}, ptr {out.let(spare)}")

    def masked_load(self, address: str, ty: Scalar, suffix: str) -> str:
        """Elements next to each other, as they are stored; zeros in other lanes."""
        name, of = self._function("load", ty), f"<{self.count} x {STORED[ty]}>"
        where = f"ptr {address}, i32 {BYTES[ty]}, {self.type(BOOL)} {self.mask}"
        text = f"call {of} {name}({where}, {of} zeroinitializer){suffix}"
        return self.state.out.let(text)

    def masked_store(self, address: str, ty: Scalar, value: str, suffix: str) -> None:
        """Put elements next to each other, as they are stored."""
        name, of = self._function("store", ty), f"<{self.count} x {STORED[ty]}>"
        where = f"ptr {address}, i32 {BYTES[ty]}, {self.type(BOOL)} {self.mask}"
        self.state.out.put(f"call void {name}({of} {value}, {where}){suffix}")

    def _function(self, name: str, ty: Scalar) -> str:
        letter = "f" if REGISTER[ty] in ("double", "float") else "i"
        return f"@llvm.masked.{name}.v{self.count}{letter}{8 * BYTES[ty]}.p0"
