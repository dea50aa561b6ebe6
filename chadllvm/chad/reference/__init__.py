"""The paper's own forms of CHAD on its first-order language, as executable reference.

`terms` is the paper's language (Fig. 1), into which `source` reads a core function, and
`machine` its evaluator with the cost model of App. C. `rules` are the rules of Figs. 2
and 6, which are the same but for how contributions are put together: `naive` (§2) and
`sparse` (§4.1) add up environments, `monad` (§4.2, §5) runs in the environment monad.
`cost` is the size and the potential of §4.3, and the theorem of §6.

Slow and small: they are here to be compared with what the compiler does.
"""
