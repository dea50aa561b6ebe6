"""A seed → the text of a random program: a module with a function and arguments."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from tests.campaign.definitions import DEFINITIONS, HEAD
from tests.campaign.kinds import SHARES
from tests.campaign.program import Style, written
from tests.laws import random_arrays, random_exchanges
from tests.laws.sweeping.statements import FAVOURS, STATEMENTS

# Sums of whole arrays would hide copies.
SHARES_OF_ELEMENTS = SHARES | {
    "vec": "{0}[0]",
    "part": "np.sum({0}[:1])",
    "mat": "{0}[0, 0]",
    "rect": "np.sum({0}[:1, :1])",
    "ints": "0.01 * ({0}[0] % 5)",
    "mask": "(0.1 if {0}[0] else 0.0)",
}
ARRAYS = (("b", "vec"), ("ids", "ints"), ("on", "mask"), ("c", "vec"))
STYLE = Style(
    params=ARRAYS,
    hostile=0.0,
    plain=0.97,
    fuels=(25, 40, 60),
    depths=(0, 0, 1, 1, 2),
    favours=FAVOURS,
    more=STATEMENTS,
    results=("float",),
    shares=SHARES_OF_ELEMENTS,
)
WITH_MATRICES = replace(STYLE, params=(*ARRAYS, ("m", "mat")))

SEEDS = 1_000_000_007  # no two programs have an attempt in common

ARGS = """

ARGS = (
    np.array([0.5, -1.25, 0.1, 0.9, -0.4, 1.5, -0.2, 0.8]),
    np.array([-0.3, 0.7, 1.1, -0.9, 0.2, 0.6, -1.4, 0.05]),
    np.array([0.35, -0.6, 0.25, 1.2, -0.1, 0.4, -2.0, 0.75]),
)
"""


def program(seed: int) -> str:
    """Half of the programs are the campaign's, a quarter of each other kind."""
    match seed % 4:
        case 0:
            return _module(random_arrays.written(seed))
        case 1:
            return _module(random_exchanges.written(seed))
        case 2:
            return _with_loops(seed, STYLE)
        case _:
            return _with_loops(seed, WITH_MATRICES)


def _with_loops(seed: int, style: Style) -> str:
    """A program of the campaign that passes arrays on in a loop over all elements."""
    attempts = (written(seed + k * SEEDS, style) for k in count())
    return next(p.text for p in attempts if "loop_over_all" in p.constructs)


def _module(text: str) -> str:
    function = text.replace("def main(", "@cl.jit\ndef f(", 1)
    return HEAD + DEFINITIONS["Holders"] + function + ARGS
