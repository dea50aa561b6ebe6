"""Loops → LLVM IR → optimised machine code. Only this package and `backend` know LLVM."""
