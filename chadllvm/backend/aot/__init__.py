"""Ahead of time: compiled functions as a C library that needs no Python.

names      what things are called in C
tree       types → C types, and the order of their leaves
declare    C types and functions → the header
arguments  C arguments → the leaves that native code takes, checked
results    the words that native code gives → C results
wrapper    a function of the library: arguments, the native call, results
workspace  a function → how much memory it asks for
sources    the runtime, and the functions, as one C file
targets    processors that code can be made for
objects    loops → object files
toolchain  what the machine's C compiler makes of all that
bundle     the files of a library, written all at once
load       a library → Python functions, without LLVM
"""
