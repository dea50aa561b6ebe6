"""What native code calls of Python: functions of its stable interface."""

from __future__ import annotations

# The types of their results and of their only parameters, if they have one.
PYTHON = {
    "PyLong_AsVoidPtr": ("ptr", "ptr"),
    "PyFloat_AsDouble": ("double", "ptr"),
    "PyLong_AsLongLong": ("i64", "ptr"),
    "PyObject_IsTrue": ("i32", "ptr"),
    "PyLong_FromLongLong": ("ptr", "i64"),
    "PyEval_SaveThread": ("ptr", ""),
    "PyEval_RestoreThread": ("void", "ptr"),
}
