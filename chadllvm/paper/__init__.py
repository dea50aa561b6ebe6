"""The paper's own forms of CHAD on its first-order language, as executable reference.

`terms` is the paper's language (Fig. 1), into which `source` reads a core function, and
`machine` its evaluator with the cost model of App. C. `rules` are the rules of Figs. 2
and 6, which are the same but for how contributions are put together: `naive` (§2) and
`sparse` (§4.1, over `maps`) add up environments, `monad` (§4.2, §5) runs in the
environment monad. The target is typed: `types` has its types, `check` the rules, and
`write` makes a program of the core of it. `affine` counts how cotangents are used, and
`laws` are what the proof of §6 rests on.

`arrays`, `fold` and `gathers` are those of §7 and §8.1, over `bag` and `tree`; `loops`
and `updates` are what the core has besides; `span` measures parallelism (§8). `cost` is
the size and the potential of §4.3, and the theorem of §6; `array_cost` adds arrays.

Functions come in three ways: `higher_order` is naive CHAD of them (§9); `closure` makes
them closed functions and packed values (`packed`), D of which is in `closed` (App. B);
`defunctionalise` makes them sums of what they capture, over `layouts` (§9), so that
programs are first-order again. `type_passing` is for types that unpack leaves hidden.

Slow and small: they are here to be compared with what the compiler does.
"""

import chadllvm.ops  # noqa: F401  # It fills the table of primitives.
