"""Closure conversion by lambda sets: programs with function values to programs without.

`convert` turns functions into what they capture, and their calls into copies of their
bodies; `tape` decides what is captured and what is computed again.
"""
