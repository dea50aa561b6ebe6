"""The cost law on programs that were not written for it: the corpus, and random ones.

`scaled.py` makes arguments of several sizes out of one, `derivatives.py` the functions
that are measured out of a program, `measured.py` what they take; `verdicts.py` says
whether that is within the law. `sources.py` writes the random programs, which a worker
process (`worker.py`) measures; `command.py` collects what it says.
"""
