"""The library: functions of the compiled language, in the language itself.

Each stands for a function of NumPy or SciPy wherever a program calls that
(`support/overloads.py`), and is differentiated like any other function.
"""
