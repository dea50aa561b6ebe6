"""The table of operations: importing this package fills the registries of `ir/op.py`.

Every module below this one is a part of the table and is imported here, so that a new
operation is one new row or one new file and nothing else.
"""

from importlib import import_module
from pkgutil import walk_packages

from chadllvm.ir.op import INSTRUCTIONS, PRIMS

__all__ = ["INSTRUCTIONS", "PRIMS"]

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
