"""Lists that grow, and lists of arrays."""

from __future__ import annotations

from tests.campaign.table import calls, expression, statement
from tests.campaign.writer import Writer

calls(
    "Lists that grow",
    "test",
    "({float} in {list})",
    "({float} not in {part})",
    "operator.contains({list}, {part}[0])",
    "({small} in range({int} % 5, 9, 1 + {int} % 3))",
    "({small} not in [i * i for i in range({small})])",
    weight=0.3,
)
calls(
    "Lists that grow",
    "int",
    "{list}.count({float})",
    "[0.5, {float}, 1.0, {float}].index(1.0)",
    "bisect.bisect_left(sorted({list}), {float})",
    "bisect.bisect_right(sorted({list}), {float})",
    weight=0.3,
)
calls(
    "Lists that grow",
    "float",
    "sum({list})",
    "sum(sorted({list})[:2])",
    "sum(v * k for k, v in enumerate(sorted({part}, key=abs, reverse=True)))",
    "({list}[-1] if {list} else 0.5)",
    weight=0.8,
)
calls("Lists that grow", "int", "len({list})", weight=0.5)
calls(
    "Comprehensions and loops",
    "float",
    "sum(map(lambda u1, u2: u1 * u2, {part}, {list}))",
    "max([0.5, {float}] + {list}, key=lambda u1: abs(u1 - 1.0))",
    "min((u1 for u1 in {part} if u1 > 0.0), default={float})",
    "functools.reduce(lambda u1, u2: 0.5 * u1 + u2, {part}, {float})",
    "sum(u1 * u2 for u1, u2 in itertools.product({part}, {list}))",
    "sum(u1 * u2 for u1, u2 in itertools.combinations({list}, 2))",
    "sum(u2 - 0.5 * u1 for u1, u2 in itertools.pairwise({part}))",
    "sum(itertools.chain({part}, {list}))",
    "sum(itertools.islice({part}, 3))",
    "sum(u1 * u2 for u1, u2 in sorted(zip({part}, {list}), reverse=True)[:2])",
    "sum({vec}.tolist()) * {part}[:1].sum().item()",
    "sum(itertools.starmap(math.hypot, zip({part}, itertools.repeat(0.5, 3))))",
    "sum(map(operator.mul, {part}, {list}))",
    "operator.add(operator.sub({float}, 0.5), operator.neg({float}))",
    "operator.truediv({float}, 2.0)",
    "operator.pow(operator.mod({float}, 2.0), 2) + operator.floordiv({small}, 2)",
    "float(operator.lt({float}, 0.5)) + operator.ge({float}, 0.5) * {float}",
    "0.5 * operator.le({float}, 0.5) + operator.gt({float}, 0.5)",
    "0.5 * operator.eq({small}, 1) + operator.ne({small}, 1)",
    weight=0.25,
)
calls(
    "Comprehensions and loops",
    "part",
    "np.array(sorted((abs(u1) for u1 in {part}), key=lambda u1: -u1))",
    "np.array([u1 for u1, u2 in sorted(zip({part}, range(9)), key=lambda p: p[1])])",
    weight=0.3,
)
calls(
    "Lists that grow",
    "part",
    "np.array({list} + [0.5])",
    "np.array({list} * 2 + [{float}])",
)
calls(
    "Comprehensions and loops",
    "float",
    "sum(tuple(u1 * {float} for u1 in ({float}, {small}, 0.5)))",
    "next((u1 * u1 for u1 in {part} if u1 > 0.25), {float})",
    "tuple(u1 - u2 for u1, u2 in zip(({float}, 0.5), reversed(({float}, {small}))))[1]",
    weight=0.3,
)
calls(
    "Lists that grow",
    "list",
    "[{float}, {float}]",
    "[v for v in {part}]",
    "[{float}] * 3",
    "[{float}, *{list}]",
    "[*{part}, {float}]",
)
calls(
    "Lists of arrays",
    "float",
    "np.sum({ragged}[0])",
    "sum(np.sum(v) for v in {ragged})",
    "{ragged}[{small} % len({ragged})][-1]",
    "{ragged}[-1][0]",
)
calls("Lists of arrays", "int", "len({ragged})", "len({ragged}[0])", weight=0.5)
calls(
    "Lists of arrays",
    "part",
    "{ragged}[-1] * 1.0",
    "np.concatenate({ragged})",
    "np.sin({ragged}[0])",
    "{ragged}[{small}] * 0.5",
    "[{vec}, {part}, {vec}][{small}] * 1.0",
)
calls(
    "Lists of arrays",
    "ragged",
    "[{vec}[:k1] for k1 in range(4)]",
    "[np.sin(v) for v in {ragged}]",
    "{ragged}[1:]",
    weight=0.6,
)


@expression("Lists of arrays", "ragged", 0.6)
def arrays_side_by_side(w: Writer) -> str:
    """Without an annotation both may be taken to be of one size."""
    w.flags.add("sizes")
    return f"[{w.expr('vec')}, {w.expr('part')}]"


@statement("Lists that grow", 1.5)
def list_made(w: Writer) -> None:
    name, text = w.fresh("l"), w.pick("[0.5]", w.expr("list"))
    is_seen = text.isidentifier()
    w.line(f"{name} = {text}{w.pick('[:]', '.copy()') if is_seen else ''}")
    w.declare(name, "list", ours=True)


@statement("Lists that grow", 1.5)
def empty_list_filled(w: Writer) -> None:
    name, v = w.fresh("l"), w.fresh("v")
    declared = w.pick("", "", ": list[float]")
    w.line(f"{name}{declared} = []")
    w.line(f"for {v} in {w.expr('vec')}:")
    with w.looped():
        w.declare(v, "float")
        w.scope[-1].is_fixed = True
        if w.chance(0.4):
            w.line(f"if {v} > {w.expr('lit')}:")
            w.line(f"    {w.pick('continue', f'{name}.append(0.5 * {v})')}")
        w.line(f"{name}.append({w.expr('float')})")
    w.declare(name, "list", ours=True)


@statement("Lists that grow", 2.0)
def list_changed(w: Writer) -> None:
    name = w.a_variable("list", ours=True)
    text = w.pick(
        f"{name}.append({w.expr('float')})",
        f"{name}.append({w.expr('float')})",
        f"{name}.extend([{w.expr('float')}, 0.5])",
        f"{name} += [{w.expr('float')}]",
        f"{name}[0] = {w.expr('float')}",
        f"{name}[-1] += {w.expr('float')}",
        f"{name}.insert({w.expr('int')}, {w.expr('float')})",
        f"{w.pick(f'del {name}[0]', f'{name}.remove({name}[-1])', f'{name}.clear()')}",
        f"del {name}[-1]",
        f"{name}.sort({w.pick('', 'key=abs', 'reverse=True')})",
        f"{name}.reverse()",
    )
    w.line(text)


@statement("Lists that grow", 1.0)
def popped(w: Writer) -> None:
    name, value = w.a_variable("list", ours=True), w.fresh("q")
    w.line(f"{value} = {w.expr('float')}")
    w.line(f"{w.pick('while', 'if')} {name}:")
    place = w.pick("", "", "0", f"len({name}) // 2")
    w.line(f"    {value} {w.pick('=', '+=')} {name}.pop({place})")
    w.declare(value, "float")


@statement("Lists that grow", 1.0)
def lists_in_a_list(w: Writer) -> None:
    name, i, value = w.fresh("g"), w.fresh("i"), w.fresh("q")
    w.line(f"{name} = {w.pick('[[] for _ in range(3)]', '[[], [0.5], []]')}")
    w.line(f"for {i} in range({w.expr('small')}):")
    with w.looped():
        w.declare(i, "int")
        w.scope[-1].is_fixed = True
        w.line(f"{name}[{i} % 3].append({w.expr('float')})")
        w.line(f"if len({name}[0]) > 2:")
        w.line(f"    {name}[{w.pick('0', '-1')}].append({name}[0].pop())")
    w.line(f"{name}[1].append({w.expr('float')})")
    total = w.pick(f"sum(sum(r) for r in {name})", f"{name}[1][-1] * len({name}[0])")
    w.line(f"{value} = {total}")
    w.declare(value, "float")


@statement("Lists that grow", 0.6)
def heap(w: Writer) -> None:
    name, value = w.fresh("h"), w.fresh("q")
    w.line(f"{name} = [v for v in {w.expr('vec')}]")
    w.line(f"heapq.heapify({name})")
    w.line(f"heapq.heappush({name}, {w.expr('float')})")
    w.line(f"{value} = heapq.heappop({name})")
    w.line(f"{value} += sum(heapq.{w.pick('nsmallest', 'nlargest')}(2, {name}))")
    w.declare(value, "float")
    w.declare(name, "list", ours=True)


@statement("Lists of arrays", 1.2)
def list_of_arrays(w: Writer) -> None:
    name, i = w.fresh("g"), w.fresh("i")
    w.line(f"{name}: list[cl.f64[:]] = []")
    w.line(f"for {i} in range({w.expr('small')}):")
    with w.looped():
        w.declare(i, "int")
        w.scope[-1].is_fixed = True
        w.line(f"{name}.append(({w.expr(w.pick('part', 'vec'))}).copy())")
    w.line(f"{name}.append({w.expr('vec')} * 0.5)")
    w.declare(name, "ragged", ours=True)


@statement("Lists of arrays", 1.0)
def array_in_a_list_changed(w: Writer) -> None:
    name = w.a_variable("ragged", ours=True)
    text = w.pick(
        f"{name}[0] = {w.expr('part')} + 0.0",
        f"{name}[-1][0] = {w.expr('float')}",
        f"{name}[0] = 0.5 * {name}[0]",
        f"{name}[-1][1:] *= 0.5",
        f"{name}.append({w.expr('part')} * 2.0)",
    )
    w.line(text)


@statement("Lists of arrays", 1.0)
def arrays_exchanged(w: Writer) -> None:
    name, i = w.fresh("g"), w.fresh("i")
    w.flags.add("sizes")
    w.line(f"{name} = [{w.expr('vec')}, {w.expr('vec')}]")
    w.line(f"for {i} in range({w.expr('small')}):")
    with w.looped():
        w.declare(i, "int")
        w.scope[-1].is_fixed = True
        for _ in range(2):
            changes = (
                f"{name}[0], {name}[-1] = {name}[-1], {name}[0]",
                f"{name}[{i} % 2] = {w.expr('vec')}",
                f"{name}[-1] = 0.5 * {name}[0]",
                f"{name} = [*{name}[1:], {w.expr('vec')}]",
                f"{name} = {name}[-1:] + {name}[:-1]",
                f"{w.a_variable('float', here=True)} += 0.1 * np.sum({name}[1])",
            )
            w.line(w.pick(*changes))
    w.line(f"{w.a_variable('float', here=True)} += 0.1 * np.sum({name}[0])")


@statement("Lists of arrays", 0.8)
def loop_over_arrays(w: Writer) -> None:
    v = w.fresh("v")
    w.line(f"for {v} in {w.a_variable('ragged')}:")
    with w.looped():
        w.declare(v, "part")
        w.scope[-1].is_fixed = True
        for variable in w.scope:
            if variable.kind == "ragged":
                variable.is_fixed = True
        w.statement()
        w.line(f"{w.a_variable('float', here=True)} += 0.1 * np.sum({v})")


@statement("Lists of arrays", 0.8)
def arrays_only_read(w: Writer) -> None:
    """Each of a size of its own."""
    name, v, k = w.fresh("xs"), w.fresh("v"), w.fresh("k")
    pairs = [
        f"({w.expr('part')}, {w.expr('float')})" for _ in range(w.random.randint(1, 3))
    ]
    w.line(f"{name} = [{', '.join(pairs)}]")
    w.line(f"for {v}, {k} in {name}{w.pick('', '[:-1]', '[::-1]')}:")
    with w.looped():
        w.declare(v, "part")
        w.declare(k, "float")
        for variable in w.scope[-2:]:
            variable.is_fixed = True
        w.statement()
        w.line(f"{w.a_variable('float', here=True)} += 0.1 * {k} * np.sum({v})")
    at = f"{w.expr('small')} % len({name})"
    w.line(f"{w.a_variable('float', here=True)} += np.sum({name}[{at}][0])")


@statement("Lists of records, structured arrays", 0.8)
def records_of_several_sizes(w: Writer) -> None:
    name, k, v, c = (w.fresh(letter) for letter in "xkvc")
    w.line(f"{name} = []")
    w.line(f"for {k} in range({w.expr('small')}):")
    w.line(f"    {name}.append(({w.a_variable('vec')}[:{k} + 1], {k} * 0.5))")
    if w.random.random() < 0.5:
        w.line(f"{name} = [({v} * {c}, {c}) for {v}, {c} in {name}]")
    w.line(f"for {v}, {c} in {name}{w.pick('', '[1:]', '[::-1]')}:")
    with w.looped():
        w.declare(v, "part")
        w.declare(c, "float")
        for variable in w.scope[-2:]:
            variable.is_fixed = True
        w.statement()
        w.line(f"{w.a_variable('float', here=True)} += 0.1 * {c} * np.sum({v})")


@expression("Lists of arrays", "vec", 0.5)
def arrays_added(w: Writer) -> str:
    k = w.fresh("k")
    return f"sum({w.expr('vec')} * {k} for {k} in range(1, 2 + {w.expr('small')}))"


@statement("Lists of arrays", 0.6)
def rows_stacked(w: Writer) -> None:
    name, i, m = w.fresh("rows"), w.fresh("i"), w.fresh("m")
    w.line(f"{name} = []")
    w.line(f"for {i} in range(len({w.a_variable('vec')})):")
    with w.looped():
        w.declare(i, "index")
        w.scope[-1].is_fixed = True
        w.line(f"{name}.append({w.expr('vec')} * {w.expr('float')})")
    w.line(f"{m} = {w.pick('np.array', 'np.stack')}({name})")
    w.declare(m, "mat")


@statement("Sets", 1.0)
def set_made(w: Writer) -> None:
    name = w.fresh("s")
    text = w.pick(
        "set()",
        f"{{{w.expr('int')}, {w.expr('int')}}}",
        f"{{{w.expr('small')} + j * j for j in range({w.expr('small')})}}",
        f"set({w.expr('ints')})",
        f"{{1, 2}} {w.pick('|', '&', '-', '^')} {{{w.expr('int')}}}",
    )
    w.line(f"{name} = {text}")
    w.declare(name, "set", ours=True)


@statement("Sets", 1.5)
def set_changed(w: Writer) -> None:
    name = w.a_variable("set", ours=True)
    value = w.expr("small")
    text = w.pick(
        f"{name}.add({w.expr('int')})",
        f"{name}.discard({w.expr('int')})",
        f"{name}.update([{w.expr('int')}, {value}])",
        f"{name} |= {{{w.expr('int')}}}",
        f"{name} {w.pick('&=', '-=', '^=')} {{{w.expr('int')}, {value}}}",
        f"{name}.clear()",
    )
    w.line(text)


@statement("Sets", 1.0)
def set_grown_in_a_loop(w: Writer) -> None:
    name, total, i = w.fresh("s"), w.fresh("t"), w.fresh("i")
    w.line(f"{name} = set()")
    w.line(f"{total} = {w.expr('float')}")
    w.line(f"for {i} in range({w.expr('small')}):")
    with w.looped():
        w.declare(i, "int")
        w.scope[-1].is_fixed = True
        skip = w.pick("continue", f"{total} += {w.expr('float')}")
        w.line(f"if {i} * {i} % 5 in {name}:")
        w.line(f"    {skip}")
        w.line(f"{name}.{w.pick('add', 'discard')}({i} * {i} % 5)")
        w.line(f"{total} = 0.5 * {total} + {w.expr('float')}")
    w.declare(total, "float")
    w.declare(name, "set", ours=True)


calls(
    "Sets",
    "int",
    "len({set})",
    "sum(sorted({set}))",
    "len({set} | {set})",
    "len({set} & {set})",
    weight=0.2,
)
calls(
    "Sets",
    "test",
    "({int} in {set})",
    "({int} not in {set})",
    "({set} <= {set})",
    "({int} in {1, 2, 7})",
    weight=0.2,
)
