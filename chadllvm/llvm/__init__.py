"""Loops → LLVM IR → machine code. Only this package and `backend` know LLVM."""
