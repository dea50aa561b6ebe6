"""Benchmarks: one file a workload, hand-written C beside them, one table at the end."""

import os

# What is compiled is measured, so that code that was kept before is not asked for.
os.environ["CHADLLVM_CACHE"] = "0"
