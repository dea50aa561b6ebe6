"""The modes and their nestings agree on a part of the corpus: `corpus_orders.py`."""

from __future__ import annotations

import pytest
from programs.case import Case

from tests.laws.corpus_orders import CORPUS, check_case

PART = CORPUS[::15]


@pytest.mark.sweep(share=3)
@pytest.mark.parametrize(
    "case", PART, ids=[f"{case.name}-{k}" for k, case in enumerate(PART)]
)
def test_all_nestings_of_the_modes_agree(case: Case) -> None:
    check_case(case)
