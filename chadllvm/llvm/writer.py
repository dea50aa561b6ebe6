"""Text of one LLVM function under construction: lines, fresh names, labels.

LLVM IR is written as text directly: a line is one string, which is an order of
magnitude faster than building instruction objects, and shows what comes out where it is
made.
"""

from __future__ import annotations

# Branch weights (the condition is nearly always true, or nearly always false), and the
# metadata that every module starts with.
LIKELY = "!prof !1"
UNLIKELY = "!prof !2"
METADATA = (
    '!1 = !{!"branch_weights", i32 1048575, i32 1}',
    '!2 = !{!"branch_weights", i32 1, i32 1048575}',
    # The alignment of buffers.
    "!3 = !{i64 64}",
    # Loops that are written out; they have this in common until they are gone.
    "!4 = distinct !{!4, !5}",
    '!5 = !{!"llvm.loop.unroll.full"}',
    # Loops that are not vectorised and not unrolled.
    "!6 = distinct !{!6, !7, !8}",
    '!7 = !{!"llvm.loop.vectorize.enable", i1 false}',
    '!8 = !{!"llvm.loop.unroll.disable"}',
)
FIRST_METADATA = 9
WRITTEN_OUT, AS_IT_IS = "!llvm.loop !4", "!llvm.loop !6"


class Writer:
    """The instructions of a function in order; `label` is the block being filled."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.label = "start"
        self._count = 0
        self._words = "", 0, 0

    def fresh(self, hint: str = "t") -> str:
        """A new local name; the hint makes the text readable."""
        self._count += 1
        if not (hint.isidentifier() and hint.isascii()):
            hint = "t"
        return f"%{hint}.{self._count}"

    def fresh_label(self, hint: str) -> str:
        """A new block label."""
        self._count += 1
        return f"{hint}.{self._count}"

    def put(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + text)

    def let(self, text: str, hint: str = "t") -> str:
        """An instruction with a result; returns the result's name."""
        name = self.fresh(hint)
        self.lines.append(f"  {name} = {text}")
        return name

    def alloca(self, llvm_type: str, hint: str) -> str:
        """A stack slot, made once at the entry of the function."""
        name = self.fresh(hint)
        self.entry.append(f"  {name} = alloca {llvm_type}")
        return name

    def words(self, count: int) -> str:
        """The address of so many words, for as long as no others are asked for."""
        name, most, line = self._words
        if not name:
            name, line = self.fresh("words"), len(self.entry)
            self.entry.append("")
        most = max(most, count)
        self._words = name, most, line
        self.entry[line] = f"  {name} = alloca [{most} x i64]"
        return name

    def start(self, label: str) -> None:
        """Begin the block of this label; the one before must be complete."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str, about: str = "") -> None:
        """End the block: go to a label."""
        suffix = f", {about}" if about else ""
        self.lines.append(f"  br label %{label}{suffix}")

    def branch(self, cond: str, then: str, orelse: str, weights: str = "") -> None:
        """End the block: go to one of two labels."""
        suffix = f", {weights}" if weights else ""
        self.lines.append(f"  br i1 {cond}, label %{then}, label %{orelse}{suffix}")
