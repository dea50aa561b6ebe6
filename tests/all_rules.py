"""Imports whatever makes rules, so that all of them are known."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import chadllvm.driver.plan
import chadllvm.errors
import chadllvm.support.call_rules
from chadllvm.support.codes import RULES

for _module in iter_modules(chadllvm.errors.__path__):
    import_module(f"chadllvm.errors.{_module.name}")

__all__ = ["RULES"]
