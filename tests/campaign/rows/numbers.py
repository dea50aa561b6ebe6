"""Numbers: arithmetic, comparisons, conversions, integers and their bits."""

from __future__ import annotations

from tests.campaign.table import calls, expression
from tests.campaign.writer import Writer

calls(
    "Numbers",
    "float",
    "({float} + {float})",
    "({float} - {float})",
    "({float} * {float})",
    "0.5 * {float}",
    "(-{float})",
    "(+{float})",
    weight=4.0,
)
calls(
    "Numbers",
    "float",
    "({float} / (1.5 + abs({float})))",
    "({int} * {float})",
    "({float} - {int})",
    "({bool} * {float})",
    "{float} ** 2",
    "{float} ** 3",
    "abs({float}) ** {lit}",
    "(1.5 + abs({float})) ** -2",
    "abs({float})",
    "float({int})",
    "({int} / 7)",
    "min({float}, {float})",
    "max({float}, {float}, {lit})",
    "({float} if {test} else {float})",
    "round({float}, 2)",
    "({float} % 1.75)",
    "({float} // 0.75)",
    "(abs({float}) // {lit})",
    "divmod({float}, 1.5)[1]",
    "pow({float}, 2)",
)
calls(
    "Errors at run time",
    "float",
    "({float} / {float})",
    "({float} % {float})",
    "({float} / {int})",
    weight=0.2,
)
calls(
    "Numbers",
    "int",
    "({int} + {int})",
    "({int} - {int})",
    "({int} * {small})",
    "(-{int})",
    "abs({int})",
    "({int} // {small1})",
    "({int} % {small1})",
    "{small} ** {small}",
    "int(4.0 * {unit})",
    "int({bool})",
    "min({int}, {int})",
    "max({int}, {small})",
    "({int} if {test} else {int})",
    "len({vec})",
    "round({unit})",
    "round({int}, -1)",
    "round({int}, -{small})",
    "bool({int}) + 1",
    "divmod({int}, 5)[0]",
    "pow({int}, {small}, 7)",
)
calls("Errors at run time", "int", "({int} // {int})", "({int} % {int})", weight=0.15)
calls("Integers", "int", "{int} * {int}", "{int} ** {small}", weight=0.5)
calls(
    "Integers",
    "int",
    "({int} & {int})",
    "({int} | {small})",
    "({int} ^ {int})",
    "(~{int})",
    "({int} << {small})",
    "({int} >> {small})",
    weight=0.6,
)
calls("Integers", "int", "(({int} << 13) & 0xFFFFFFFF)", weight=0.4)
calls(
    "Numbers",
    "bool",
    "{float} < {float}",
    "{float} >= {float}",
    "{int} == {int}",
    "{int} != {small}",
    "({float} < {float} <= {float})",
    "({bool} and {test})",
    "({bool} or {test})",
    "(not {bool})",
    "bool({int})",
    "{float} > {lit}",
)
calls("Numbers", "test", "{bool}", "{float} > {float}", "{int} % 2 == 0", "{int} < 3")
calls("Numbers", "test", "({int} != 0 and {int} > 1)", "{float} < 0.25", weight=0.7)
calls("Numbers", "small1", "(1 + {int} % 4)", "3", "2")
calls("Functions of calculus", "unit", "np.tanh({float})", "math.sin({float})")
calls("Parts of arrays", "index", "{int} % len({vec})", "({small} % len({vec}))")
calls("Types", "pair", "({float}, {float})", weight=2.0)
calls("Types", "pair", "({pair} if {test} else {pair})")
calls("Types", "float", "{pair}[0]", "{pair}[-1]")


@expression("Comprehensions and loops", "int", 0.4)
def sum_of_a_range(w: Writer) -> str:
    with w.bound("int") as (k,):
        return f"sum({w.expr('int')} for {k} in range({w.expr('small')}))"
