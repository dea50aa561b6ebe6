"""Statements that do not need each other, as strands that may run at the same time."""
