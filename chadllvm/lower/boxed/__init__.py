"""Core → loops for the permanent mode (`optimize=0`): CHAD's output as it stands.

    lambda             a record {tag, captured words…}; a call looks at the tag
    array              a `chad_array_t` of the C runtime; a row shares its data
    open, one, close   calls of the runtime's accumulation array (paper, §5)
    one ca.[i] d       BPlus and BOne of the array's bag (§7); a whole array: BArray

Nothing is freed or overwritten while a call lasts, so there is nothing to know of
lifetimes and aliasing; that makes it the judge of `lower/lower.py`, whose results have
to be the same.
"""
