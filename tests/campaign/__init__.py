"""A campaign of random whole programs against all the oracles there are:

    python -m tests.campaign --programs 1000 --seed 0 --resume campaign.jsonl

`table.py` collects the constructs of the language, a row each (`rows/`), of which
`program.py` writes programs. A worker process (`worker.py`) judges them by the oracles
(`oracles.py`, `slopes.py`); `pool.py` starts workers again that die or hang, and
`minimise.py` makes what fails small.
"""
