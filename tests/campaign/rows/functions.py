"""Functions: calls, keywords, static arguments, closures, functions as values."""

from __future__ import annotations

from tests.campaign.table import calls, expression, statement
from tests.campaign.writer import Writer


@expression("Functions", "float")
def call_of_a_compiled_function(w: Writer) -> str:
    w.need("softplus")
    return f"softplus({w.expr('float')})"


@expression("Functions", "float", 0.5)
def global_of_the_surroundings(w: Writer) -> str:
    w.need("SCALE")
    return w.pick(
        f"SCALE * {w.expr('float')}",
        f"WEIGHTS[{w.expr('small')} % 3] * {w.expr('float')}",
    )


@expression("Functions", "vec", 0.7)
def call_with_an_array(w: Writer) -> str:
    w.need("smoothed")
    return f"smoothed({w.expr('vec')}, {w.expr('lit')})"


@expression("Functions", "float", 0.7)
def call_of_a_plain_function(w: Writer) -> str:
    w.need("damped")
    return w.pick(
        f"damped({w.expr('float')})",
        f"damped({w.expr('float')}, rate={w.expr('lit')})",
        f"np.sum(damped({w.expr('vec')}))",
    )


@expression("Functions", "vec", 0.7)
def call_element_by_element(w: Writer) -> str:
    w.need("softened")
    return w.pick(
        f"softened({w.expr('vec')})",
        f"softened({w.expr('vec')}, width=0.5 + abs({w.expr('float')}))",
    )


@expression("Functions", "float", 0.5)
def call_of_a_vectorized_function(w: Writer) -> str:
    w.need("softened")
    return f"1.0 * softened({w.expr('float')})"


calls(
    "Functions",
    "float",
    "stats.norm.logpdf({float}, {float}, 0.5 + abs({float}))",
    "stats.norm.logsf({float})",
    "stats.gamma.logcdf(0.5 + abs({float}), 1.5 + abs({float}))",
    "stats.t.logpdf({float}, 3.0 + abs({float}))",
    "stats.beta.ppf(0.5 + 0.3 * {unit}, 2.0, 1.5)",
    "special.logsumexp({vec})",
    "np.sum(special.softmax({vec}) ** 2)",
    "special.gammainc(1.5 + abs({float}), abs({float}))",
    weight=0.2,
)


@expression("Keywords, defaults, static arguments", "float", 0.7)
def call_by_keywords(w: Writer) -> str:
    w.need("huber")
    return w.pick(
        f"huber({w.expr('float')})",
        f"huber({w.expr('float')}, width={w.expr('lit')})",
        f"huber(residual={w.expr('float')}, sharp=True)",
    )


@expression("Keywords, defaults, static arguments", "float", 0.6)
def call_with_static_arguments(w: Writer) -> str:
    w.need("fall")
    method, steps = w.pick("'euler'", "'midpoint'"), w.pick("1", "3")
    return f"fall({w.expr('float')}, method={method}, steps={steps})"


@expression("Keywords, defaults, static arguments", "float", 0.3)
def call_with_a_string(w: Writer) -> str:
    w.need("bent_by")
    shape = w.pick("'sine'", "'line'")
    return f"bent_by({w.expr('float')}, {shape})"


@expression("Keywords, defaults, static arguments", "float", 0.4)
def list_from_outside(w: Writer) -> str:
    w.need("COEFFICIENTS")
    x = w.expr("float")
    return w.pick(
        f"sum(c * {x} for c in COEFFICIENTS)",
        f"(COEFFICIENTS[{w.expr('small')} % 3] + {x} * len(COEFFICIENTS))",
        f"sum(max(row) * {x} for row in TABLE)",
    )


@expression("Functions as values", "func", 1.0)
def local_lambda(w: Writer) -> str:
    with w.bound("float") as (t,):
        return w.capture(f"(lambda {t}: {w.expr('float')} * {t})")


@expression("Functions as values", "func", 0.5)
def function_of_the_language(w: Writer) -> str:
    w.need("softplus")
    return w.pick("math.sin", "math.exp", "softplus", "np.tanh")


@expression("Functions as values", "float", 1.0)
def call_of_a_function_value(w: Writer) -> str:
    return f"{w.a_variable('func')}({w.expr('float')})"


@expression("Functions as values", "float", 0.7)
def passed_on(w: Writer) -> str:
    w.need("midpoint")
    return f"midpoint({w.expr('func')}, 0.0, {w.expr('lit')}, {w.expr('small')} + 1)"


@expression("Functions as values", "vec", 0.4)
def function_over_an_array(w: Writer) -> str:
    f = w.a_variable("func")
    return f"np.array([{f}(v) for v in {w.expr('vec')}])"


@statement("Functions as values", 1.5)
def local_function(w: Writer) -> None:
    """A `def` with statements of its own, which reads what is around it."""
    name, t = w.fresh("fn"), w.fresh("t")
    start, before, results = len(w.lines), list(w.scope), w.results
    w.line(f"def {name}({t}):")
    w.level, w.results, loops, w.loops = w.level + 1, ("float",), w.loops, 0
    with w.inside():
        w.declare(t, "float")
        for _ in range(w.random.randint(0, 3)):
            w.statement()
        w.line(f"return {w.pick('', '0.5 * ')}{w.expr('float')} + {t}")
    w.level, w.results, w.loops = w.level - 1, results, loops
    w.scope = before
    w.capture("\n".join(w.lines[start:]))
    w.declare(name, "func")
    w.scope[-1].is_fixed = True


@statement("Functions as values", 0.8)
def function_of_what_changes(w: Writer) -> None:
    """A local function that is only called, and updates an array around it."""
    name, array, rate, total = w.fresh("fn"), w.fresh("a"), w.fresh("k"), w.fresh("s")
    i, t = w.fresh("i"), w.fresh("t")
    w.line(f"{array} = ({w.expr('vec')}).copy()")
    w.line(f"{rate}, {total} = {w.expr('float')}, 0.0")
    w.line(f"def {name}({i}, {t}):")
    if w.chance(0.4):
        w.line(f"    nonlocal {rate}")
        w.line(f"    {rate} = 0.5 * {rate} + math.cos({t})")
    w.line(f"    {array}[{i} % len({array})] {w.pick('=', '+=')} 0.5 * {t} * {rate}")
    has_result = w.chance(0.5)
    if has_result:
        w.line(f"    return {array}[0] + {rate}")
    w.line(f"for {i} in range({w.expr('small')}):")
    with w.looped():
        w.line(f"{rate} = math.sin({rate}) + {w.expr('lit')}")
        called = f"{name}({i}, {w.expr('float')})"
        w.line(f"{total} += {called}" if has_result else called)
    w.line(f"{total} = {total} + {array}[-1] * {rate}")
    w.declare(total, "float")
    w.declare(array, "vec", ours=True)


@statement("Functions as values", 1.0)
def chosen_function(w: Writer) -> None:
    name = w.fresh("fn")
    first, second = w.expr("func"), w.expr("func")
    w.line(f"{name} = {first} if {w.expr('test')} else {second}")
    w.declare(name, "func")
    w.scope[-1].is_fixed = True


@statement("Functions as values", 0.5)
def functions_in_a_tuple(w: Writer) -> None:
    name, f = w.fresh("s"), w.fresh("f")
    w.line(f"{name} = 0.0")
    w.line(f"for {f} in ({w.expr('func')}, math.sin, {w.expr('func')}):")
    w.line(f"    {name} += {f}({w.expr('float')})")
    w.declare(name, "float")


@statement("Functions as values", 0.5)
def function_returned(w: Writer) -> None:
    w.need("scaler")
    name = w.fresh("fn")
    w.line(f"{name} = scaler({w.capture(w.expr('float'))})")
    w.declare(name, "func")
    w.scope[-1].is_fixed = True


calls("Functions as values", "float", "(lambda t, s=0.5: t * s)({float})", weight=0.4)


@statement("Comprehensions and loops", 1.0)
def local_generator(w: Writer) -> None:
    """A generator that is run over by a loop, or taken as a whole."""
    name, m, i, v = w.fresh("gen"), w.fresh("m"), w.fresh("i"), w.fresh("v")
    w.line(f"def {name}({m}):")
    w.line(f"    for {i} in range({m}):")
    if w.chance(0.4):
        w.line(f"        if {i} % 3 == 1:")
        w.line(f"            {w.pick('return', 'continue', f'yield 0.5 * {i}')}")
    w.line(f"        yield 0.5 * {i} * {w.capture(w.expr('float'))}")
    total, n = w.fresh("s"), w.expr("small")
    if w.chance(0.3):
        w.line(
            f"{total} = {w.pick('sum', 'len')}({w.pick('list', 'sorted')}({name}({n})))"
        )
    else:
        w.line(f"{total} = 0.0")
        w.line(f"for {v} in {name}({n}):")
        if w.chance(0.4):
            w.line(f"    if {v} > {w.expr('lit')}:")
            w.line(f"        {w.pick('break', 'continue')}")
        w.line(f"    {total} = 0.5 * {total} + {v}")
    w.declare(total, "float")
