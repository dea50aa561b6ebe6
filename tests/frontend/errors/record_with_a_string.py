from typing import NamedTuple


class Named(NamedTuple):
    name: str


def f(named: Named):
    return 1.0
