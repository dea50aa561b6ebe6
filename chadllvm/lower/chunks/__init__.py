"""Loops whose steps may run at the same time, in chunks: `parallel.py`."""
