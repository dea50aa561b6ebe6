"""Core → loops for the permanent mode (`optimize=0`): CHAD's output as it stands.

    lambda             a record {tag, captured words…}; a call looks at the tag
    array              a `chad_array_t` of the C runtime; a row is a part of it
    a with [i] = v     another version of it (`runtime_c/src/version.c`)
    open, one, close   calls of the runtime's accumulation array (paper, §5)
    one ca.[i] d       BPlus and BOne of the array's bag (§7); a whole array: BArray

Nothing is freed while a call lasts, and the runtime sees to it that an array stays what
it is, so there is nothing to know of lifetimes and aliasing; that makes it the judge of
`lower/lower.py`, whose results have to be the same.
"""
