"""CHAD: a core program to the core program of its derivative. Nothing else knows of it.

`transform` holds the transformation itself, in the monadic form of the paper's Fig. 6,
and `reversal` that of a flat block; both apply to their own output, where `additions`
says what is added to which cells. `activity` says which values carry derivatives,
`names` which need no cell; `gradient` makes the functions that users ask for out of it.
`forward` is forward mode, by tangents, which may be applied to a gradient too; `zeros`
says where it needs tangents of zeros. `recursion` has the rule of functions that call
themselves. `custom` takes derivatives that users have written, which may be transposed
where `linear` proves that they are linear. The array rules of §7 stand with their
operations in `ops/`. `reference` has the paper's own forms.
"""
