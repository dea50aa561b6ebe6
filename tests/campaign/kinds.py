"""The kinds of values: their annotations, literals, and how results are made of them.

`vec`, `ints` and `mask` have the size of the program's arrays, `mat` is square of it;
`part` and `rect` are of any size. `index` is an integer that is one of a `vec`, `small`
one from 0 to 4.
"""

from __future__ import annotations

ANNOTATIONS = {
    "float": "float",
    "int": "int",
    "bool": "bool",
    "f32": "cl.f32",
    "vec": "cl.f64[:]",
    "ints": "cl.i64[:]",
    "mask": "cl.boolean[:]",
    "mat": "cl.f64[:, :]",
    "rect": "cl.f64[:, :]",
    "vec32": "cl.f32[:]",
    "ragged": "list[cl.f64[:]]",
    "pair": "tuple[float, float]",
    "option": "float | None",
    "point": "Point",
    "body": "Body",
    "shape": "Shape",
    "spin": "Spin",
    "points": "list[Point]",
    "shapes": "list[Shape]",
    "entries": "Entries",
    "tree": "Tree",
    "chain": "Chain | None",
    "func": "Callable[[float], float]",
}

LEAVES = {
    "float": ("0.5", "(-1.25)", "2.0", "1.0", "0.0", "0.75", "math.pi", "(-0.3)"),
    "int": ("0", "1", "2", "3", "(-1)", "7"),
    "small": ("0", "1", "2", "3", "4"),
    "index": ("0", "-1"),
    "bool": ("True", "False"),
    "test": ("(x > y)", "(k % 2 == 0)", "(y < 0.5)"),
    "f32": ("np.float32(0.5)",),
    "vec": ("a",),
    "part": ("a[1:]", "a[:2]"),
    "mat": ("np.eye(len(a))",),
    "rect": ("np.ones((2, 3))",),
    "ints": ("np.arange(len(a))",),
    "mask": ("(a > 0.0)",),
    "vec32": ("a.astype(np.float32)",),
    "list": ("[0.5, x]",),
    "set": ("{1, 2}", "{k, 3}"),
    "ragged": ("[a, a[1:]]",),
    "pair": ("(x, 0.5)",),
    "option": ("(x if y > 0.0 else None)",),
    "func": ("math.sin", "(lambda t: 0.5 * t)"),
    "point": ("Point(x, 0.5)",),
    "body": ("Body(Point(x), y)",),
    "shape": ("Circle(x)", "Rectangle(x, y)"),
    "spin": ("Spin(x, y)",),
    "points": ("[Point(x, y)]",),
    "entries": ('{"w": a * 1.0, "scale": y}',),
    "tree": ("Leaf(x)", "Node(Leaf(x), Leaf(y))"),
    "chain": ("Chain(x, None)",),
    "huge": ("(2 ** 62)", "(-(2 ** 62))"),
    "big": ("(2 ** 45)",),
    "unit": ("0.5", "(-0.25)"),
    "small1": ("1", "2", "3"),
    "lit": ("0.5", "0.25", "1.5", "(-0.75)", "2.0", "0.1"),
    "end": ("", "", "1", "2", "-1", "-2", "0", "5", "-7", "3"),
    "step": ("1", "2", "-1", "3", "-2"),
}

# The classes that values of a kind are of.
CLASSES = {
    **{"point": "Point", "body": "Body", "spin": "Spin", "shape": "Shape"},
    **{"entries": "Entries", "tree": "Tree", "points": "Point", "shapes": "Shape"},
    **{"chain": "Chain", "object": "Spring"},
}

# The kinds of parameters without an annotation.
BARE = ("rows", "object")

ARRAYS = ("vec", "mat", "part", "rect", "ints", "mask", "vec32")

# How a variable has its share in a float.
SHARES = {
    "float": "{0}",
    "int": "0.01 * ({0} % 97)",
    "bool": "(0.5 if {0} else 0.0)",
    "f32": "np.float64({0})",
    "vec": "np.sum({0} * 0.5)",
    "part": "np.sum(np.sin({0}))",
    "mat": "np.sum(np.tanh({0}))",
    "rect": "np.sum(np.cos({0}))",
    "ints": "0.01 * np.sum({0} % 5)",
    "mask": "0.1 * np.count_nonzero({0})",
    "vec32": "np.float64(np.sum({0}))",
    "list": "sum({0})",
    "ragged": "sum(np.sum(v) for v in {0})",
    "pair": "({0}[0] - {0}[1])",
    "option": "(0.25 if {0} is None else {0})",
    "point": "{0}.norm()",
    "body": "{0}.mass * {0}.at.x",
    "spin": "({0} * {0}).real",
    "points": "sum(p.x * p.y for p in {0})",
    "entries": "{0}['w'][0] * {0}['scale']",
    "func": "{0}(0.5)",
}
