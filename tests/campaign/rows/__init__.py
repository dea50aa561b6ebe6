"""The rows of the table, a file for each part of the language."""

from tests.campaign.rows import (  # noqa: F401
    arrays,
    calculus,
    control,
    derivatives,
    functions,
    lists,
    numbers,
    numpy_functions,
    numpy_pieces,
    records,
    recursion,
    singles,
    unions,
    updates,
)
