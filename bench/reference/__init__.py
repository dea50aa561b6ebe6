"""The hand-written C kernels: built by CMake, loaded by cffi, checked by each other."""
