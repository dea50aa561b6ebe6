"""Passes from core programs to core programs that make sense on any functional program.

Each module is one pass, `def pass(program: Program) -> Program`, which returns the same
program if it changed nothing; `affine` and `facts` are what `bounds` and `hoist` share.
"""
