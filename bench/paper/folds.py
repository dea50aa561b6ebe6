"""Two derivatives of fold (§7, §10): by a tree of the reduction, and by scans."""

from __future__ import annotations

from bench.paper.claim import Claim, Curve, Report, Series
from chadllvm.paper import bag
from chadllvm.paper.array_linear import sparse_arrays
from chadllvm.paper.cost import run_monadic, run_term
from chadllvm.paper.elements import Elements
from chadllvm.paper.fold import Fold
from chadllvm.paper.monad import ArrayMonad
from chadllvm.paper.scans import FoldByScans
from tests.array_terms import A, X, nested_fold

DEPTHS = 11
VALUES = (2.0, Elements([1.0, 1.0]))


def report(quick: bool) -> Report:
    """Nested folds: linear with trees, exponential with scans."""
    depths = range(5 if quick else DEPTHS)
    trees = [_gradient(Fold(), depth) for depth in depths]
    scans = [_gradient(FoldByScans(), depth) for depth in depths]
    primal = [_primal(depth) for depth in depths]
    curve = Curve(
        name="folds",
        title="The gradient of a fold whose function is a fold, and so on",
        place="§10",
        x="folds inside each other",
        y="steps",
        series=(
            Series("the program itself", _points(primal)),
            Series("gradient by trees (Fig. 8)", _points(trees)),
            Series("gradient by scans", _points(scans)),
        ),
    )
    return Report([_trees_claim(trees, primal), _scans_claim(scans, primal)], [curve])


def _points(costs: list[int]) -> tuple[tuple[float, float], ...]:
    return tuple((float(k), float(cost)) for k, cost in enumerate(costs, 1))


def _primal(depth: int) -> int:
    return run_term(nested_fold(Fold(), depth), (X, A), VALUES)[1]


def _gradient(op: Fold, depth: int) -> int:
    monad = ArrayMonad(sparse_arrays())
    term = nested_fold(op, depth)
    return run_monadic(monad, term, (X, A), VALUES, 1.0, (0.0, bag.EMPTY)).cost


def _ratios(costs: list[int], primal: list[int]) -> list[float]:
    return [cost / base for cost, base in zip(costs, primal, strict=True)]


def _trees_claim(trees: list[int], primal: list[int]) -> Claim:
    found = _ratios(trees, primal)
    return Claim(
        says="fold’s derivative by a tree pays once for nested folds",
        place="§7, §10",
        measured=f"{found[0]:.1f} times the program’s cost without a nested fold, "
        f"{found[-1]:.1f} times with {len(found) - 1}",
        holds=max(found) <= 1.5 * found[0],
    )


def _scans_claim(scans: list[int], primal: list[int]) -> Claim:
    found = _ratios(scans, primal)
    growth = scans[-1] / scans[-2]
    return Claim(
        says="fold’s derivative by scans blows up under nested folds",
        place="§10, of Schenck et al.’s derivative",
        measured=f"{found[0]:.1f} times the program’s cost without a nested fold, "
        f"{found[-1]:.1f} times with {len(found) - 1}; {growth:.2f} times as much for "
        "one more",
        holds=growth > 1.6 and found[-1] > 2 * found[0],
    )
