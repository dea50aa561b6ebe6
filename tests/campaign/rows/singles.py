"""Numbers and arrays of f32, and their conversions."""

from __future__ import annotations

from tests.campaign.table import calls, expression, statement
from tests.campaign.writer import Writer

calls(
    "Numbers",
    "f32",
    "({f32} + {f32})",
    "({f32} * {f32})",
    "({f32} - 0.5)",
    "0.25 * {f32}",
    "np.sin({f32})",
    "np.tanh({f32})",
    "np.sum({vec32})",
    "np.max({vec32})",
    "{vec32}[{index}]",
    "np.float32({float})",
    "cl.f32({float})",
    "({f32} if {test} else {f32})",
    "abs({f32})",
    "np.mean({vec32})",
    "{vec32} @ {vec32}",
    "({f32} * {small})",
    "np.dot({vec32}, {vec32})",
)
calls(
    "Numbers",
    "vec32",
    "({vec32} + {vec32})",
    "({f32} * {vec32})",
    "{vec32}[::-1]",
    "np.cos({vec32})",
    "({vec32} * {vec32} - 0.5)",
    "{vec}.astype(np.float32)",
    "np.asarray({vec}, dtype=np.float32)",
    "np.where({vec32} > 0.0, {vec32}, {f32})",
    "np.cumsum({vec32})",
    "np.zeros(len({vec}), dtype=np.float32)",
    "np.maximum({vec32}, {f32})",
)
calls(
    "Numbers", "float", "np.float64({f32})", "float({f32})", "cl.f64({f32})", weight=0.8
)
calls("Numbers", "vec", "{vec32}.astype(np.float64)", weight=0.4)
calls("Numbers", "bool", "({f32} > 0.25)", weight=0.4)
calls("Numbers", "int", "cl.i64(3.0 * np.sin({f32}))", weight=0.5)


@expression("Numbers", "f32", 0.7)
def generator_of_singles(w: Writer) -> str:
    source = w.expr("vec32")
    with w.bound("f32") as (v,):
        return f"sum({w.expr('f32')} * {v} for {v} in {source})"


@statement("Numbers", 1.5)
def single_kept(w: Writer) -> None:
    kind = w.pick("f32", "vec32")
    name = w.fresh("f")
    w.line(f"{name} = {w.expr(kind)}")
    w.declare(name, kind)
