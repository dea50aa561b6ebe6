"""Kernels of public families: what the passes of the optimiser are judged by.

The workloads are few, and the compiler grew beside them. These kernels are written
after families that others have published: TSVC, the Livermore loops, PolyBench,
stencils, and what numerical programs of several sciences have in their inner loops.
"""
