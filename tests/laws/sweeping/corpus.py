"""The programs of the corpus that take arrays."""

from __future__ import annotations

import numpy as np

from tests.campaign.values import leaves
from tests.program_cases import CASES
from tests.sweep import named


def names() -> list[str]:
    """Their names, by which a worker finds them."""
    pairs = zip(named(CASES), CASES, strict=True)
    return [name for name, case in pairs if any(map(np.ndim, leaves(case.args)))]
