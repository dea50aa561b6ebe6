"""Arrays: operators, broadcasting, parts, comprehensions, `fold` and `build`."""

from __future__ import annotations

from tests.campaign.table import calls, expression
from tests.campaign.writer import Writer

calls(
    "Arrays",
    "vec",
    "({vec} + {vec})",
    "({vec} - {vec})",
    "({vec} * {vec})",
    "({float} * {vec})",
    "({vec} - {float})",
    "(-{vec})",
    weight=3.0,
)
calls(
    "Arrays",
    "vec",
    "({vec} / (2.0 + {vec} ** 2))",
    "{vec} ** 2",
    "({vec} + {ints})",
    "({vec} % 1.5)",
    "({vec} // 0.75)",
    "({mask} * {vec})",
    "({vec} if {test} else {vec})",
)
calls(
    "Arrays",
    "mat",
    "({mat} + {mat})",
    "({mat} * {vec})",
    "({mat} - {vec}[:, None])",
    "({float} * {mat})",
    "{mat}.T",
    "({vec}[:, None] * {vec})",
    "({mat} - {mat}.mean(axis=0))",
    "({mat} - {mat}.sum(axis=1, keepdims=True))",
    "({mat} if {test} else {mat})",
    "np.tanh({mat})",
)
calls("Arrays", "ints", "({ints} + {ints})", "({ints} % 4)", "({ints} * {int})")
calls("Arrays", "ints", "({ints} // 2)", "({ints} & 6)", "(~{ints})", "({ints} << 1)")
calls("Arrays", "mask", "({vec} > {float})", "({vec} <= {vec})", "({ints} == {int})")
calls("Arrays", "mask", "(({vec} > 0.0) & {mask})", "(~{mask})", "({mask} | {mask})")
calls("Parts of arrays", "float", "{vec}[{index}]", "{mat}[{index}, {index}]", weight=3)
calls("Parts of arrays", "float", "{mat}[{index}][{index}]", "{vec}[{int}]", weight=0.4)
calls("Parts of arrays", "int", "{ints}[{index}]", "int({ints}[{index}])")
calls("Parts of arrays", "bool", "{mask}[{index}]", weight=0.5)
calls(
    "Parts of arrays",
    "part",
    "{vec}[{end}:{end}]",
    "{vec}[{end}:{end}:{step}]",
    "{part}[{end}:{end}]",
    "{part}[::{step}]",
    "{vec}[{mask}]",
    "{vec}[{vec} > {float}]",
    "{mat}[{index}, {end}:{end}]",
    "{mat}[::{step}, {index}]",
    "{mat}[{mask}, {index}]",
)
calls(
    "Parts of arrays",
    "vec",
    "{vec}[::-1]",
    "{mat}[{index}]",
    "{mat}[:, {index}]",
    "{mat}[..., {index}]",
    "{vec}[{ints} % len({vec})]",
    "{vec}[:]",
    "{vec}[None, :][0]",
    "np.concatenate(({vec}[{small}:], {vec}[:{small}]))[:len({vec})]",
)
calls(
    "Parts of arrays",
    "rect",
    "{mat}[{end}:{end}]",
    "{mat}[{end}:{end}:{step}, {end}:{end}]",
    "{mat}[:, {end}:{end}]",
    "{mat}[{mask}]",
    "{rect}.T",
    "{vec}[None]",
    "{part}[:, None]",
)
calls(
    "Parts of arrays",
    "mat",
    "{mat}[::-1]",
    "{mat}[:, ::-1]",
    "{mat}[{ints} % len({vec})]",
)
calls("Parts of arrays", "part", "({part} * {float})", "np.sin({part})", "{rect}[0]")
calls("Parts of arrays", "rect", "({rect} * {float})", "np.cos({rect})")
calls(
    "NumPy's functions",
    "int",
    "{vec}.size",
    "{mat}.shape[0]",
    "np.ndim({mat})",
    weight=0.4,
)
calls("NumPy's functions", "int", "{part}.size", "len({rect})", weight=0.4)


@expression("Comprehensions and loops", "float", 2.0)
def generator_sum(w: Writer) -> str:
    source = w.expr("vec")
    with w.bound("float") as (v,):
        return f"sum({w.expr('float')} for {v} in {source})"


@expression("Comprehensions and loops", "float")
def generator_of_zip(w: Writer) -> str:
    sources = f"{w.expr('vec')}, {w.expr('vec')}"
    with w.bound("float", "float") as (u, v):
        return f"sum({w.expr('float')} * {u} for {u}, {v} in zip({sources}))"


@expression("Comprehensions and loops", "float")
def generator_with_test(w: Writer) -> str:
    source = w.expr("part")
    with w.bound("float") as (v,):
        test = w.pick(f"{v} > {w.expr('float')}", f"{v} != 0.0", w.expr("test"))
        value = f"1.0 / {v} if {v} > 0.1 else {w.expr('float')}"
        return f"sum({value} for {v} in {source} if {test})"


@expression("Comprehensions and loops", "float")
def extreme_of_generator(w: Writer) -> str:
    reduce, source = w.pick("min", "max"), w.expr("vec")
    with w.bound("float") as (v,):
        return f"{reduce}({w.expr('float')} + {v} for {v} in {source})"


@expression("Comprehensions and loops", "bool", 0.6)
def any_or_all(w: Writer) -> str:
    reduce, source = w.pick("any", "all"), w.expr("vec")
    with w.bound("float") as (v,):
        return f"{reduce}({v} > {w.expr('float')} for {v} in {source})"


@expression("Comprehensions and loops", "float")
def nested_generators(w: Writer) -> str:
    m = w.a_variable("mat")
    with w.bound("index", "index") as (i, j):
        inner = f"{m}[{i}, {j}] * {w.expr('float')}"
        return f"sum(sum({inner} for {j} in range({i} + 1)) for {i} in range(len({m})))"


@expression("Comprehensions and loops", "float", 0.6)
def generator_with_two_clauses(w: Writer) -> str:
    a, b = w.a_variable("vec"), w.a_variable("vec")
    with w.bound("index", "index") as (i, j):
        text = f"abs({a}[{i}] - {b}[{j}]) * {w.expr('float')}"
        clauses = f"for {i} in range(len({a})) for {j} in range({i})"
        return f"sum({text} {clauses} if {a}[{j}] > {b}[{i}])"


@expression("Comprehensions and loops", "vec", 1.5)
def comprehension(w: Writer) -> str:
    source = w.expr("vec")
    with w.bound("float") as (v,):
        return f"np.array([{w.expr('float')} + 0.0 * {v} for {v} in {source}])"


@expression("Comprehensions and loops", "vec")
def comprehension_of_enumerate(w: Writer) -> str:
    source = w.pick("enumerate({})", "enumerate({}, 2)", "zip(range(99), {})").format(
        w.expr("vec")
    )
    with w.bound("int", "float") as (k, v):
        return f"np.array([{v} * {k} + {w.expr('float')} for {k}, {v} in {source}])"


@expression("Comprehensions and loops", "part")
def comprehension_with_test(w: Writer) -> str:
    source = w.pick("{}", "reversed({})", "list({})").format(w.expr("vec"))
    with w.bound("float") as (v,):
        test = f"{v} > {w.expr('float')}"
        return f"np.array([{w.expr('float')} * {v} for {v} in {source} if {test}])"


@expression("Comprehensions and loops", "mat", 0.8)
def nested_comprehension(w: Writer) -> str:
    a, b = w.a_variable("vec"), w.a_variable("vec")
    with w.bound("float", "float") as (u, v):
        row = f"[{w.expr('float')} + {u} * {v} for {v} in {b}]"
        return f"np.array([{row} for {u} in {a}])"


@expression("Comprehensions and loops", "part", 0.5)
def accumulated(w: Writer) -> str:
    source = w.expr("vec")
    return f"np.array([v for v in itertools.accumulate({source})])"


@expression("`fold` and `build`", "vec", 0.6)
def built(w: Writer) -> str:
    a = w.a_variable("vec")
    with w.bound("index") as (i,):
        return f"cl.build(len({a}), lambda {i}: {a}[{i}] * {w.expr('float')})"


@expression("`fold` and `build`", "mat", 0.5)
def built_matrix(w: Writer) -> str:
    a = w.a_variable("vec")
    with w.bound("index", "index") as (i, j):
        text = f"{a}[{i}] * {w.expr('float')} + {a}[{j}]"
        return f"cl.build((len({a}), len({a})), lambda {i}, {j}: {text})"


@expression("`fold` and `build`", "float", 0.5)
def folded(w: Writer) -> str:
    function = w.pick(
        "lambda p, q: p + q", "lambda p, q: p if p > q else q", "lambda p, q: p * q"
    )
    return f"cl.fold({function}, {w.expr('vec')})"


@expression("`fold` and `build`", "vec", 0.3)
def folded_rows(w: Writer) -> str:
    return (
        f"cl.fold(lambda p, q: {w.pick('p + q', 'np.maximum(p, q)')}, {w.expr('mat')})"
    )
