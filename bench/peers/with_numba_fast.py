"""Numba with `fastmath`, which adds and multiplies in any order: see `with_numba`."""

from __future__ import annotations

from functools import partial

from bench.peers import with_numba

PROGRAMS, REFUSED = with_numba.PROGRAMS, with_numba.REFUSED

prepare = partial(with_numba.prepare, fastmath=True)
