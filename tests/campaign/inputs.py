"""Arguments of programs, as text: usual ones, and hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

USUAL_SIZES = (1, 2, 3, 3, 4, 5, 5, 8, 17)
FLOATS = (
    "0.0",
    "-0.0",
    "math.nan",
    "math.inf",
    "-math.inf",
    "1e308",
    "5e-324",
    "1e-300",
    "1e16",
)
# The sizes that an array keeps beside a 0.
EMPTY_SHAPES = ((0, 3), (0, 1), (3, 0), (1, 0), (0, 0))
INTEGERS = (0, -1, 2**63 - 1, -(2**63), 2**62, 2**53 + 1, -(2**31), 2**32)


class Inputs:
    """The values of arguments, hostile ones for a share of the programs."""

    def __init__(self, random: Random, hostile: float) -> None:
        self.random = random
        self.is_hostile = random.random() < hostile
        self.size = random.choice(USUAL_SIZES)
        if random.random() < 0.04:
            self.size = random.choice((70, 300))
        if self.is_hostile and random.random() < 0.35:
            self.size = random.choice((0, 0, 1))
        self.alias = ""

    def text(self, kind: str) -> str:
        return str(getattr(self, f"_{kind}")())

    def _strange(self, share: float) -> bool:
        return self.is_hostile and self.random.random() < share

    def _float(self) -> str:
        if self._strange(0.3):
            return self.random.choice(FLOATS)
        if self._strange(0.1):
            return repr(float(self.random.randint(-2, 2)))
        return repr(round(self.random.gauss(0.0, 1.2), 4))

    def _int(self) -> int:
        if self._strange(0.3):
            return self.random.choice(INTEGERS)
        return self.random.randint(-2, 9)

    def _bool(self) -> bool:
        return self.random.random() < 0.5

    def _f32(self) -> str:
        return f"np.float32({self._float()})"

    def _element(self) -> str:
        if self._strange(0.9) and self.random.random() < 0.9:
            return repr(round(self.random.gauss(0.0, 1.2), 4))
        return self._float()

    def _floats(self) -> str:
        size = self.size
        if self._strange(0.08):
            size = max(0, size + self.random.choice((-1, 1)))
        if self.size > 20:
            made = f"np.random.default_rng({self.random.randrange(99)})"
            return f"{made}.normal(size={size})"
        return f"np.array([{', '.join(self._element() for _ in range(size))}], float)"

    def _vec(self) -> str:
        if self._strange(0.15) and self.alias:
            return self.alias
        text = self._floats()
        if self._strange(0.2):
            text = f"np.repeat({text}, 2)[::2]"
        return text

    def _vec32(self) -> str:
        return f"{self._floats()}.astype(np.float32)"

    def _ints(self) -> str:
        items = ", ".join(str(self._int()) for _ in range(min(self.size, 20)))
        if self.size > 20:
            return f"np.random.default_rng(7).integers(-2, 9, {self.size})"
        return f"np.array([{items}], np.int64)"

    def _mask(self) -> str:
        return f"{self._floats()} > 0.0"

    def _mat(self) -> str:
        if self._strange(0.15):
            return f"np.zeros({self.random.choice(EMPTY_SHAPES)})"
        if self.size > 20:
            return f"np.random.default_rng(3).normal(size=({self.size}, {self.size}))"
        rows = ", ".join(
            f"[{', '.join(self._element() for _ in range(self.size))}]"
            for _ in range(self.size)
        )
        text = f"np.array([{rows}], float).reshape({self.size}, {self.size})"
        return text + (".T" if self._strange(0.3) else "")

    def _pair(self) -> str:
        return f"({self._float()}, {self._float()})"

    def _option(self) -> str:
        return self.random.choice(("None", self._float()))

    def _point(self) -> str:
        return f"Point({self._float()}, {self._float()})"

    def _body(self) -> str:
        return f"Body({self._point()}, {self._float()}, {self.random.randint(-3, 5)})"

    def _spin(self) -> str:
        return f"Spin({self._float()}, {self._float()})"

    def _shape(self) -> str:
        return self.random.choice(
            (f"Circle({self._float()})", f"Rectangle({self._float()}, {self._float()})")
        )

    def _points(self) -> str:
        return self._list(self._point)

    def _shapes(self) -> str:
        return self._list(self._shape)

    def _entries(self) -> str:
        return f'{{"w": {self._floats()}, "scale": {self._float()}}}'

    def _ragged(self) -> str:
        count = self.random.randint(1, 3)
        parts = [f"np.array({self._list(self._float)}, float)" for _ in range(count)]
        return f"[{', '.join(parts)}]"

    def _list(self, item: Callable[[], str]) -> str:
        """One to three of them; hostile ones may be none."""
        least = 0 if self._strange(0.5) else 1
        items = [item() for _ in range(self.random.randint(least, 3))]
        return f"[{', '.join(items)}]"

    def _tree(self) -> str:
        if self.random.random() < 0.5:
            return f"Leaf({self._float()})"
        return f"Node({self._tree()}, Leaf({self._float()}))"

    def _chain(self) -> str:
        if self.random.random() < 0.4:
            return "None"
        return f"Chain({self._float()}, {self._chain()})"

    def _rows(self) -> str:
        return (
            f"np.array([({self._float()}, 2), ({self._float()}, 1), (0.5, 3)], "
            '[("x", float), ("count", np.int64)])'
        )

    def _object(self) -> str:
        return f"Spring({self._float()}, {self._floats()})"
