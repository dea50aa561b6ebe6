"""What lanes add to places that move along with an inner loop, by one at each step.

    for k in 0 .. m:                 w = 0 in all lanes
      x = …                          for k in 0 .. m:
      c[i + k] += x          →         x = …
                                       w = w one lane down, plus x
                                       c[i + k] += the first lane of w
                                     c[i + m …] += the other lanes of w

That is the reverse of a convolution. Each lane adds to the place that the lane before
it adds to a step later, so that a vector of memory would be read back before it has
arrived there: a processor waits for that several times as long as a step takes. So the
sums of the places that lanes are at are in registers, the *window*, and memory gets
each of them when no lane will add to it any more. Where places move back (`i - k`),
that is the sum of the last lane. What lanes add in several steps is summed up first, so
that these need not wait for each other:

    places       0  1  2  …  n-1  n  n+1
    first step   a  a  a  …   a
    second          b  b  …   b   b
    third              c  …   c   c   c
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chadllvm.ir.loops import AddTo, For, Stmt
from chadllvm.ir.types import Scalar
from chadllvm.llvm import control
from chadllvm.llvm.lane_sums import LaneSums
from chadllvm.llvm.lane_values import element, nothing
from chadllvm.llvm.types import BYTES, REGISTER, STORED
from chadllvm.lower.overlap import sliding


@dataclass(frozen=True, slots=True)
class _Window:
    """The stack slots of the sums, and of the place of the first lane, null before the
    first step. `way` is 1 if places move on, -1 if they move back."""

    sums: str
    place: str
    way: int


class LaneWindows(LaneSums):
    """The additions of one loop's lanes to places that move along inner loops."""

    _windows: dict[Stmt, _Window] | None = None

    def inner(self, loop: For, write: Callable[[], None]) -> None:
        """Write an inner loop, with the windows of what it adds."""
        found = {} if self.mask else sliding(loop, self.varying)
        if not found or control.trip_count(loop) == 1:
            write()
            return
        out, self._windows = self.state.out, {}
        for stmt, way in found.items():
            ty = stmt.value.type
            sums = out.alloca(self.type(ty), "window")
            place = out.alloca("ptr", "place")
            out.put(f"store {self.type(ty)} {self.all(nothing(ty), ty)}, ptr {sums}")
            out.put(f"store ptr null, ptr {place}")
            self._windows[stmt] = _Window(sums, place, way)
        write()
        windows, self._windows = self._windows, None
        for stmt in found:
            self._finish(stmt, windows[stmt])

    def slides(self, stmt: AddTo) -> bool:
        """Add to a window, if there is one for this."""
        if self._windows is None or stmt not in self._windows:
            return False
        self._slide(stmt, self.first_place(stmt), [self.vector(stmt.value)])
        return True

    def added(self, loop: For) -> list[AddTo]:
        return [*super().added(loop), *(self._windows or ())]

    def add_waiting(self, stmt: AddTo, place: str, vectors: Sequence[str]) -> None:
        if self._windows is not None and stmt in self._windows:
            self._slide(stmt, place, vectors)
        else:
            super().add_waiting(stmt, place, vectors)

    def _slide(self, stmt: AddTo, place: str, vectors: Sequence[str]) -> None:
        """Add the vectors of some steps, the first of which is at this place."""
        assert self._windows is not None
        window, ty, out = self._windows[stmt], stmt.value.type, self.state.out
        of, size, last = self.type(ty), self.count, len(vectors) - 1
        on = window.way == 1
        sums = out.let(f"load {of}, ptr {window.sums}")
        sums = self._moved(sums, ty, window.way)
        # How far each is from the lowest place, that of the first lane in some step.
        low_place = place if on else element(self.state, place, str(-last), ty)
        far = [step if on else last - step for step in range(last + 1)]
        all_sums = [(sums, 0 if on else last), *zip(vectors, far, strict=True)]
        low = self._sum_of([self._moved(v, ty, -k) for v, k in all_sums], ty, size)
        high = low
        if last:
            ends = [self._end(v, ty, k, last) for v, k in all_sums if k]
            high = self._padded(self._sum_of(ends, ty, last), ty, last)
        # From the lowest place to the highest: what is done, and what is kept.
        done = range(last + 1) if on else range(size - 1, size + last)
        kept = range(last, last + size) if on else range(size)
        out.put(
            f"store {of} {self._chosen_lanes(low, high, ty, kept)}, ptr {window.sums}"
        )
        now = element(self.state, place, str(window.way * last), ty)
        out.put(f"store ptr {now}, ptr {window.place}")
        first = element(self.state, low_place, str(done.start), ty)
        self._add_part(stmt, first, self._chosen_lanes(low, high, ty, done), last + 1)

    def _moved(self, vector: str, ty: Scalar, by: int) -> str:
        """Each lane has what the one `by` further had; the last ones have nothing."""
        if by == 0:
            return vector
        size = self.count
        places = [lane if 0 <= lane < size else size for lane in range(by, size + by)]
        return self._chosen_lanes(vector, self.all(nothing(ty), ty), ty, places)

    def _end(self, vector: str, ty: Scalar, far: int, count: int) -> str:
        """What is behind the last lane if a vector moves so far, of so many places."""
        size = self.count
        places = [size + k - far if k < far else size for k in range(count)]
        return self._chosen_lanes(vector, self.all(nothing(ty), ty), ty, places)

    def _chosen_lanes(self, a: str, b: str, ty: Scalar, places: Iterable[int]) -> str:
        """Lanes of two vectors, as one."""
        of, order = self.type(ty), ", ".join(f"i32 {place}" for place in places)
        count = order.count(",") + 1
        text = f"shufflevector {of} {a}, {of} {b}, <{count} x i32> <{order}>"
        return self.state.out.let(text)

    def _padded(self, vector: str, ty: Scalar, count: int) -> str:
        """A short vector as one of all lanes."""
        of = f"<{count} x {REGISTER[ty]}>"
        places = [str(k) if k < count else "poison" for k in range(self.count)]
        order = ", ".join(f"i32 {place}" for place in places)
        text = (
            f"shufflevector {of} {vector}, {of} poison, <{self.count} x i32> <{order}>"
        )
        return self.state.out.let(text)

    def _sum_of(self, vectors: list[str], ty: Scalar, count: int) -> str:
        """The sum of vectors of so many numbers; those in the middle do not wait."""
        of = f"<{count} x {REGISTER[ty]}>"
        first, *others = vectors
        if not others:
            return first
        while len(others) > 1:
            a, b, *rest = others
            others = [*rest, self._plus(of, a, b)]
        return self._plus(of, first, others[0])

    def _add_part(self, stmt: AddTo, place: str, sums: str, count: int) -> None:
        """Add a short vector to memory."""
        ty, out, suffix = stmt.value.type, self.state.out, self._suffix(stmt)
        of = f"<{count} x {REGISTER[ty]}>"
        where = f"ptr {place}, align {BYTES[ty]}{suffix}"
        total = self._plus(of, out.let(f"load {of}, {where}"), sums)
        out.put(f"store {of} {total}, {where}")

    def _suffix(self, stmt: AddTo) -> str:
        return self.state.alias.suffix(stmt.root)

    def _finish(self, stmt: AddTo, window: _Window) -> None:
        """Memory gets the sums that are left, if there was a step."""
        out, ty = self.state.out, stmt.value.type
        place = out.let(f"load ptr, ptr {window.place}")
        some, after = out.fresh_label("some"), out.fresh_label("after")
        out.branch(out.let(f"icmp ne ptr {place}, null"), some, after)
        out.start(some)
        sums = out.let(f"load {self.type(ty)}, ptr {window.sums}")
        done = 0 if window.way == 1 else self.count - 1
        text = f"insertelement {self.type(ty)} {sums}, {STORED[ty]} {nothing(ty)}"
        left = out.let(f"{text}, i64 {done}")
        total = self.plus(ty, self._loaded(place, ty, self._suffix(stmt)), left)
        self.stored(place, ty, total, self._suffix(stmt))
        out.jump(after)
        out.start(after)
