"""Why environments are a monad: dense zeros and unions of maps are not efficient (§4).

Steps of the reference forms on growing environments and products: quadratic with dense
zeros and one-hots, n·log n with unions of maps (App. A), be they magical, and n in the
environment monad. And the costs that Fig. 5 states of the map, in visited nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from bench.paper.claim import Claim, Curve, Report, Series
from chadllvm.ir.op import PRIMS
from chadllvm.ir.term import Var
from chadllvm.ir.types import F64, Product, Type
from chadllvm.paper import maps
from chadllvm.paper.cost import run_basic, run_monadic
from chadllvm.paper.linear import free
from chadllvm.paper.maps import Map
from chadllvm.paper.monad import ArrayMonad, Monad, TreeMonad
from chadllvm.paper.naive import Dense, Environments, Tuples
from chadllvm.paper.sparse import Sparse, Trees
from chadllvm.paper.terms import Do, Let, Primitive, Ref, Term, fst, pair

SIZES = tuple(2**k for k in range(3, 10))
QUICK_SIZES = tuple(2**k for k in range(3, 8))
LAYERS, QUICK_LAYERS = range(3, 13), range(3, 11)

# A program: its scope, its term, and the values of the scope.
Program = tuple[tuple[Var, ...], Term, tuple[Any, ...]]
Points = tuple[tuple[float, float], ...]


def sum_of_variables(n: int) -> Program:
    """x1 + (x2 + (… + xn)): each variable's one-hot is as large as the scope."""
    scope = tuple(Var(f"x{k}", F64) for k in range(n))
    term: Term = Ref(scope[-1])
    for var in reversed(scope[:-1]):
        term = _add(Ref(var), term)
    return scope, term, (1.0,) * n


def chain_of_lets(n: int) -> Program:
    """let y1 = x + x in let y2 = y1 + y1 in …: the scope grows with each."""
    x = Var("x", F64)
    names = [Var(f"y{k}", F64) for k in range(n)]
    term: Term = Ref(names[-1])
    for var, before in reversed(list(zip(names, [x, *names], strict=False))):
        term = Let(var, _add(Ref(before), Ref(before)), term)
    return (x,), term, (1.0,)


def projections(n: int) -> Program:
    """fst x + (… + fst x), of an x whose other half has n numbers: a zero for each."""
    other: Type = F64
    value: Any = 1.0
    for _ in range(n - 1):
        other, value = Product((other, F64)), (value, 1.0)
    x = Var("x", Product((F64, other)))
    term: Term = fst(Ref(x))
    for _ in range(n - 1):
        term = _add(fst(Ref(x)), term)
    return (x,), term, ((1.0, value),)


def balanced(n: int) -> Program:
    """App. A's complete binary tree of additions over distinct variables.

    They stand so that the variables of any two neighbours alternate: a map's union
    is cheap where all keys of the one are below those of the other.
    """
    scope = tuple(Var(f"x{k}", F64) for k in range(n))
    bits = n.bit_length() - 1
    order = [int(f"{k:0{bits}b}"[::-1], 2) for k in range(n)]
    layer: list[Term] = [Ref(scope[k]) for k in order]
    while len(layer) > 1:
        layer = [_add(*layer[k : k + 2]) for k in range(0, len(layer), 2)]
    return scope, layer[0], (1.0,) * n


def _add(first: Term, second: Term) -> Term:
    return Do(Primitive(PRIMS["add"]), (pair(first, second),))


# Running them.

GROWING: dict[str, Callable[[int], Program]] = {
    "one-hots": sum_of_variables,
    "scopes": chain_of_lets,
    "products": projections,
}


def summed(environments: Environments, program: Program) -> int:
    """The steps of Fig. 2's gradient."""
    scope, term, values = program
    return run_basic(environments, term, scope, values, 1.0).cost


def monadic(monad: Monad, program: Program) -> int:
    """The steps of Fig. 6's gradient."""
    scope, term, values = program
    before = [monad.linear.zero(v.type, free) for v in scope]
    return run_monadic(monad, term, scope, values, 1.0, before).cost


def slope(points: Points) -> float:
    """The exponent of a power law through the last two points."""
    (x0, y0), (x1, y1) = points[-2:]
    return math.log(y1 / y0) / math.log(x1 / x0)


def growth(points: Points) -> float:
    """What a doubling of x adds to y at last."""
    return points[-1][1] - points[-2][1]


def report(quick: bool) -> Report:
    """Claims and curves of §4 and App. A."""
    sizes = QUICK_SIZES if quick else SIZES
    growing = [_growing(name, sizes) for name in GROWING]
    union_claims, union_curves = _unions(QUICK_LAYERS if quick else LAYERS)
    visits_claims, visits_curve = _visits(QUICK_SIZES if quick else (*SIZES, 4096))
    return Report(
        (*[claim for claim, _ in growing], *union_claims, *visits_claims),
        (*[curve for _, curve in growing], *union_curves, visits_curve),
    )


def _growing(name: str, sizes: Sequence[int]) -> tuple[Claim, Curve]:
    """Dense zeros beside the monadic form, for one kind of growing program."""
    programs = {n: GROWING[name](n) for n in sizes}
    dense = Tuples(Dense())
    naive = tuple((n, summed(dense, p)) for n, p in programs.items())
    array = ArrayMonad(Sparse())
    linear = tuple((n, monadic(array, p)) for n, p in programs.items())
    exponents = slope(naive), slope(linear)
    claim = Claim(
        f"dense zeros are quadratic on growing {name}, the monadic form is linear",
        "§4, Table 1",
        f"steps ~ n^{exponents[0]:.2f} and n^{exponents[1]:.2f} at n = {sizes[-1]}",
        exponents[0] > 1.6 and 0.9 < exponents[1] < 1.1,
    )
    curve = Curve(
        f"naive-{name}",
        f"Cost of the gradient on growing {name}",
        "§4",
        "n",
        "steps",
        (Series("dense (§2)", naive), Series("monadic (§4.2, §5)", linear)),
    )
    return claim, curve


def _unions(layers: Sequence[int]) -> tuple[list[Claim], list[Curve]]:
    """The balanced program with unions of maps, and without."""
    programs = {2**r: balanced(2**r) for r in layers}
    sparse = Sparse()
    forms: dict[str, Callable[[Program], int]] = {
        "unions of maps": lambda p: summed(Trees(sparse, finding=True), p),
        "magical unions": lambda p: summed(Trees(sparse, True, magical=True), p),
        "monadic, in a map": lambda p: monadic(TreeMonad(sparse, finding=True), p),
        "monadic, in an array": lambda p: monadic(ArrayMonad(sparse), p),
    }
    steps = {
        name: tuple((n, form(p)) for n, p in programs.items())
        for name, form in forms.items()
    }
    each = {
        name: tuple((math.log2(n), cost / n) for n, cost in points)
        for name, points in steps.items()
    }
    claims = [_union_claim(name, each[name]) for name in forms]
    title = "Cost of the gradient of App. A's balanced program"
    curves = [
        Curve("union", title, "App. A", "n", "steps", _series(steps)),
        Curve(
            "union-per-variable",
            f"{title}, for each variable",
            "App. A",
            "log2 n",
            "steps / n",
            _series(each),
            is_log=False,
        ),
    ]
    return claims, curves


def _union_claim(name: str, each: Points) -> Claim:
    """n·log n is a constant more for each doubling of n, n is nothing more."""
    more = growth(each)
    is_linear = name == "monadic, in an array"
    cost = "n" if is_linear else "n·log n"
    return Claim(
        f"on the balanced program: {name}, cost {cost}",
        "§5" if name.startswith("monadic") else "App. A",
        f"{more:+.2f} steps for each variable when n is doubled "
        f"to 2^{each[-1][0]:.0f} ({each[-1][1]:.1f} in all)",
        more < 0.1 if is_linear else more > 0.4,
    )


def _series(points: dict[str, Points]) -> tuple[Series, ...]:
    return tuple(Series(name, found) for name, found in points.items())


# The map of Fig. 5. Visited nodes are at most these factors times what it states; that
# of `pop`, which cuts and joins, and of unions is larger than that of the simple ones.
GET, MODIFY, POP, UNION = 2.0, 2.0, 8.0, 10.0


def _visits(sizes: Sequence[int]) -> tuple[list[Claim], Curve]:
    rng = Random(1)
    found: dict[str, list[tuple[float, float]]] = {"get": [], "modify": [], "pop": []}
    unions: list[tuple[float, float]] = []
    for n in sizes:
        for name, most in single_visits(n, rng).items():
            found[name].append((n, most))
        unions.append((n, max(union_ratio(m, n, rng) for m in _parts(n))))
    claims = [
        _visit_claim(name, points, factor)
        for (name, points), factor in zip(
            found.items(), (GET, MODIFY, POP), strict=True
        )
    ]
    worst = max(ratio for _, ratio in unions)
    claims.append(
        Claim(
            "union of maps of m and n entries visits O(m log(n/m + 1)) nodes",
            "Fig. 5",
            f"at most {worst:.1f}·(m log2(n/m + 1) + 1), n ≤ {sizes[-1]}",
            worst <= UNION,
        )
    )
    series = [Series(name, tuple(points)) for name, points in found.items()]
    title = "The most nodes of a map that an operation visits"
    return claims, Curve("map", title, "Fig. 5", "entries", "nodes", tuple(series))


def _visit_claim(name: str, points: Sequence[tuple[float, float]], f: float) -> Claim:
    worst = max(most / (1 + math.log2(n + 1)) for n, most in points)
    return Claim(
        f"{name} visits O(log n) nodes of a map of n entries",
        "Fig. 5",
        f"at most {worst:.1f}·(1 + log2(n + 1)), n ≤ {points[-1][0]:.0f}",
        worst <= f,
    )


def _parts(n: int) -> list[int]:
    return [m for m in (1, 2, n // 16, n // 4, n // 2, n) if m > 0]


def first(key: int, a: float, b: float) -> float:
    return a


def random_map(keys: Sequence[int]) -> Map:
    """The map of these keys, entered in this order."""
    tree: Map = None
    for key in keys:
        tree = maps.modify(tree, key, 1.0, first)
    return tree


def single_visits(n: int, rng: Random) -> dict[str, int]:
    """The most nodes that the operations on one map of n entries visit."""
    keys = rng.sample(range(2 * n), n)
    tree = random_map(keys)
    most = dict.fromkeys(("get", "modify", "pop"), 0)
    for key in range(min(2 * n, 400)):
        steps: dict[str, list[int]] = {name: [] for name in most}
        maps.get(tree, key, steps["get"].append)
        maps.modify(tree, key, 1.0, first, steps["modify"].append)
        maps.pop(tree, key, steps["pop"].append)
        most = {name: max(most[name], sum(s)) for name, s in steps.items()}
    return most


def union_ratio(m: int, n: int, rng: Random) -> float:
    """Visited nodes over what Fig. 5 states, for random maps of m ≤ n entries."""
    small = random_map(rng.sample(range(2 * n), m))
    large = random_map(rng.sample(range(2 * n), n))
    worst = 0
    for a, b in ((small, large), (large, small)):
        steps: list[int] = []
        maps.union(a, b, first, steps.append)
        worst = max(worst, sum(steps))
    return worst / (m * math.log2(n / m + 1) + 1)
