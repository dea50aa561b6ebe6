"""The table of operations: importing this package fills the registries of `ir/op.py`.

Every module beside this one is a part of the table and is imported here, so that a new
operation is one new row or one new file and nothing else.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
