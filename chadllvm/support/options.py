"""Options of a compilation. There is no global mutable state."""

from __future__ import annotations

from dataclasses import dataclass

from chadllvm.support.levels import LEVELS as PROCESSORS
from chadllvm.support.levels import NATIVE

# The permanent mode, and all that makes programs fast. Nothing stands between the two:
# single passes are left out by `disabled`.
LEVELS = (0, 2)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """The freedoms that compiled code takes with floats (`docs/language.md`).

    contract: a product and the sum that it goes into may be rounded once, together.
    reorder: sums may be added up in another order than the program's, for values and
        for cotangents; so programs may be simplified before they are differentiated.
    own_functions: elementary functions may be other ones than those of libm, some ulps
        apart from them.
    """

    contract: bool = True
    reorder: bool = True
    own_functions: bool = True


@dataclass(frozen=True)
class CompileOptions:
    """How a function is compiled.

    speculate: move checks out of loops, and suppose that what derivatives are
        multiplied by is finite. A call that fails is repeated by a second compilation
        without it, which finds the first error in program order.
    verify: run the checker on what passes make.
    cost_law: refuse, as a defect, a derivative that may take more than a constant times
        its value (`docs/cost.md`). Without it `report` tells.
    disabled: names of passes that are left out (see `driver/passes.py`).
    debug: check all arithmetic for what plain Python would have raised: integers that
        do not fit into 64 bits, divisions by zero, arguments outside of a function's
        domain. Nothing is speculated.
    nans: fail where a NaN is made of numbers that are none, in derivatives too; see
        `debug_nans`. Nothing is speculated or simplified before.
    optimize: 2, or 0 for the permanent mode: what CHAD gives is run as it stands, on
        the runtime's generic structures (accumulation array, bags, boxed functions), as
        the paper writes it. It obeys the same laws, slowly, and is there to judge by;
        an array that is updated is copied, though, each time.
    cache: keep what is compiled on disk, and take it from there (`docs/cache.md`).
    parallel: let loops whose steps do not need each other run on several threads.
        Without it their chunks run in order, and give the same bits.
    contract: let a product and the sum that it goes into become one multiply-add, which
        rounds once. Without it each operation is rounded by itself.
    strict: compute with floats as the program says it, bit for bit: nothing is
        contracted, sums are added up from the first to the last, derivatives in the
        order that CHAD gives them, and elementary functions are those of libm.
    sanitize: check each access of native code against its buffer, and the arithmetic of
        indices against overflow, whatever was proved. It finds defects of the compiler,
        and is slow; see `docs/language.md`.

    debug_info: tell debuggers which line of which file an instruction comes from, by
        DWARF's tables, in memory and in exported libraries; see `docs/language.md`.
    cpu: the least processor that code is for: `"native"`, this machine's, or a level of
        x86-64 (`"x86-64"`, `"x86-64-v2"`, `"x86-64-v3"`, `"x86-64-v4"`), for which
        the code is the same on all machines that have it, and is kept and sent as such
        (`docs/interop.md`). Exports say it themselves.

    Raises:
        ValueError: if there is no such level, or no such processor. A function says if
            the processor of the machine lacks what its own one has.
    """

    speculate: bool = True
    verify: bool = True
    cost_law: bool = False
    disabled: frozenset[str] = frozenset()
    optimize: int = 2
    debug: bool = False
    nans: bool = False
    cache: bool = True
    parallel: bool = True
    contract: bool = True
    strict: bool = False
    sanitize: bool = False
    debug_info: bool = False
    cpu: str = NATIVE

    @property
    def arithmetic(self) -> Arithmetic:
        """The freedoms that are taken with floats."""
        if self.strict:
            return Arithmetic(contract=False, reorder=False, own_functions=False)
        return Arithmetic(contract=self.contract)

    @property
    def may_repeat(self) -> bool:
        """Whether a call that fails is to be repeated by another compilation."""
        return self.speculates and bool(self.optimize)

    @property
    def speculates(self) -> bool:
        """Whether checks move: not where the first error is what is looked for."""
        return self.speculate and not self.debug and not self.nans

    def __post_init__(self) -> None:
        if type(self.optimize) is not int or self.optimize not in LEVELS:
            raise ValueError(f"optimize={self.optimize!r}: the levels are 0 and 2")
        known = [NATIVE, *PROCESSORS]
        if self.cpu not in known:
            names = " ".join(map(repr, known))
            raise ValueError(f"cpu={self.cpu!r}: the processors are {names}")
