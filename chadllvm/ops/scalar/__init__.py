"""The scalar operations: a row for each, and nothing else anywhere.

Each module has the rows of a field, and what they mean; `row.py` says what is in them.
"""
