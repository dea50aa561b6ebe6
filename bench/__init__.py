"""Benchmarks: one file a workload, hand-written C beside them, one table at the end."""
