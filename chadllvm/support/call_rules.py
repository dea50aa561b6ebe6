"""What calls can get wrong: the arguments of functions, and of our own.

Each rule makes an exception of Python's of a message that names the parameter.
"""

from __future__ import annotations

from chadllvm.support.codes import exception


@exception("CL1801")
def wrong_type(message: str) -> TypeError:
    return TypeError(message)


@exception("CL1802")
def wrong_shape(message: str) -> ValueError:
    return ValueError(message)


class SizesDiffer(ValueError):
    """Of a list's records, in a version that has their arrays as rows of one array."""


@exception("CL1803")
def too_large(message: str) -> OverflowError:
    return OverflowError(message)


@exception("CL1804")
def wrong_count(message: str) -> TypeError:
    return TypeError(message)


@exception("CL1805")
def no_type(message: str) -> TypeError:
    return TypeError(message)


@exception("CL1806")
def no_end(message: str) -> ValueError:
    return ValueError(message)


@exception("CL1807")
def unlike_tangent(message: str) -> ValueError:
    return ValueError(message)


@exception("CL1808")
def wrong_tangent(message: str) -> TypeError:
    return TypeError(message)


@exception("CL1809")
def unknown_types(message: str) -> TypeError:
    return TypeError(message)


@exception("CL1810")
def wrong_option(message: str) -> ValueError:
    return ValueError(message)


@exception("CL1811")
def not_hashable(message: str) -> TypeError:
    return TypeError(message)


@exception("CL1812")
def bad_name(message: str) -> ValueError:
    return ValueError(message)


@exception("CL1813")
def not_exported(message: str) -> ValueError:
    return ValueError(message)


@exception("CL1814")
def not_writeable(message: str) -> ValueError:
    return ValueError(message)


@exception("CL1815")
def shared_memory(message: str) -> ValueError:
    return ValueError(message)


@exception("CL1816")
def unlike_result(message: str) -> ValueError:
    return ValueError(message)
