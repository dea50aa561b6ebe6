"""Programs that are checked in every way: see `tests/test_corpus.py`."""
