"""What calls can get wrong: the arguments of functions, and of our own.

Each rule makes an exception of Python's of a message that names the parameter.
"""

from __future__ import annotations

from chadllvm.codes import exception


@exception("CL1801")
def wrong_type(message: str) -> TypeError:
    """An argument is what its parameter says.

    Integers may be given for floats, also in arrays, and lists of numbers for arrays.
    No digits are lost but by the caller's decision: no array of floats is given for one
    of integers, nor one of float64 for one of float32.

    Fails:

        def f(x: cl.i64[:]) -> int:
            return x[0]

        cl.jit(f)(np.array([1.0, 2.0]))

    Works:

        def f(x: cl.i64[:]) -> int:
            return x[0]

        cl.jit(f)(np.array([1.0, 2.0]).astype(int))
    """
    return TypeError(message)


@exception("CL1802")
def wrong_shape(message: str) -> ValueError:
    """Arrays have as many dimensions, tuples as many parts, as their parameter says.

    Lists of lists that stand for an array of records have rows of one length.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return x[0]

        cl.jit(f)(np.ones((2, 2)))

    Works:

        def f(x: cl.f64[:]) -> float:
            return x[0]

        cl.jit(f)(np.ones(4))
    """
    return ValueError(message)


@exception("CL1803")
def too_large(message: str) -> OverflowError:
    """Integers have 64 bits, and a float is less than 1.8e308.

    Fails:

        def f(n: int) -> int:
            return n + 1

        cl.jit(f)(2**70)

    Works:

        def f(n: float) -> float:
            return n + 1

        cl.jit(f)(2**70)
    """
    return OverflowError(message)


@exception("CL1804")
def wrong_count(message: str) -> TypeError:
    """Each parameter without a default gets one argument, by position or by name.

    Fails:

        def f(x, y):
            return x * y

        cl.jit(f)(2.0)

    Works:

        def f(x, y):
            return x * y

        cl.jit(f)(2.0, y=3.0)
    """
    return TypeError(message)


@exception("CL1805")
def no_type(message: str) -> TypeError:
    """Arguments are numbers, arrays, records, and tuples and lists of these.

    What a parameter without an annotation is, its first argument says: it must be of
    one of these types or a dictionary, and a list must not be empty. Numbers are real.

    Fails:

        def f(x):
            return x * x

        cl.jit(f)(1.0 + 2.0j)

    Works:

        def f(x):
            return x * x

        cl.jit(f)((1.0 + 2.0j).real)
    """
    return TypeError(message)


@exception("CL1806")
def no_end(message: str) -> ValueError:
    """Recursive data has an end: no object contains itself.

    What several objects share is copied for each of them, so that there is a limit.

    Fails:

        @dataclass(frozen=True)
        class Ring:
            value: float
            next: "Ring | None"

        def f(ring: Ring) -> float:
            return ring.value

        ring = Ring(1.0, None)
        object.__setattr__(ring, "next", ring)
        cl.jit(f)(ring)

    Works:

        @dataclass(frozen=True)
        class Chain:
            value: float
            next: "Chain | None"

        def f(chain: Chain) -> float:
            return chain.value

        cl.jit(f)(Chain(1.0, None))
    """
    return ValueError(message)


@exception("CL1807")
def unlike_tangent(message: str) -> ValueError:
    """A tangent has the structure and the shapes of its argument.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return np.sum(x)

        cl.jvp(f, (np.ones(3),), (np.ones(2),))

    Works:

        def f(x: cl.f64[:]) -> float:
            return np.sum(x)

        cl.jvp(f, (np.ones(3),), (np.ones(3),))
    """
    return ValueError(message)


@exception("CL1808")
def wrong_tangent(message: str) -> TypeError:
    """The tangent of what holds no real numbers is None.

    That of a union's member is one of the same member.

    Fails:

        def f(x: float, n: int) -> float:
            return x * n

        cl.jvp(f, (2.0, 3), (1.0, 1))

    Works:

        def f(x: float, n: int) -> float:
            return x * n

        cl.jvp(f, (2.0, 3), (1.0, None))
    """
    return TypeError(message)


@exception("CL1809")
def unknown_types(message: str) -> TypeError:
    """What is exported has types: those of its annotations, or of example arguments.

    Fails:

        def f(x, y: float):
            return x * y

        cl.export({"f": f}, "libm1", kind="object")

    Works:

        def f(x, y: float):
            return x * y

        cl.export({"f": (f, (2.0, 3.0))}, "libm1", kind="object")
    """
    return TypeError(message)


@exception("CL1810")
def wrong_option(message: str) -> ValueError:
    """Options have the values that they are documented with.

    Fails:

        def f(x: float) -> float:
            return x * x

        cl.grad(f, argnums=1)

    Works:

        def f(x: float) -> float:
            return x * x

        cl.grad(f, argnums=0)
    """
    return ValueError(message)


@exception("CL1811")
def not_hashable(message: str) -> TypeError:
    """A static argument is part of the program, and looked up: it can be hashed.

    Fails:

        @cl.jit(static_argnames="sizes")
        def f(x: float, sizes) -> float:
            return x * len(sizes)

        f(1.0, [2, 3])

    Works:

        @cl.jit(static_argnames="sizes")
        def f(x: float, sizes) -> float:
            return x * len(sizes)

        f(1.0, (2, 3))
    """
    return TypeError(message)


@exception("CL1812")
def bad_name(message: str) -> ValueError:
    """The names of a library and its functions are names in C, and its own.

    Letters, digits and underscores, a letter first; no word that C uses.

    Fails:

        def f(x: float) -> float:
            return x * x

        cl.export({"f": f}, "lib-1")

    Works:

        def f(x: float) -> float:
            return x * x

        cl.export({"f": f}, "libm1", kind="object")
    """
    return ValueError(message)


@exception("CL1813")
def not_exported(message: str) -> ValueError:
    """Functions are exported as they are compiled with optimize=2, for known targets.

    Fails:

        def f(x: float) -> float:
            return x * x

        cl.export({"f": f}, "libm1", kind="dll")

    Works:

        def f(x: float) -> float:
            return x * x

        cl.export({"f": f}, "libm1", kind="object")
    """
    return ValueError(message)


@exception("CL1814")
def not_writeable(message: str) -> ValueError:
    """A function that updates an argument is given an array that can be written to.

    Fails:

        def f(x: cl.f64[:]) -> None:
            x[0] = 1.0

        x = np.zeros(3)
        x.flags.writeable = False
        cl.jit(f)(x)

    Works:

        def f(x: cl.f64[:]) -> None:
            x[0] = 1.0

        cl.jit(f)(np.zeros(3))
    """
    return ValueError(message)


@exception("CL1815")
def shared_memory(message: str) -> ValueError:
    """What a function updates shares no memory with another of its arguments.

    In Python the other one would change as well, in the middle of the function.

    Fails:

        def f(x: cl.f64[:], y: cl.f64[:]) -> None:
            x[1:] += y[:-1]

        x = np.ones(3)
        cl.jit(f)(x, x)

    Works:

        def f(x: cl.f64[:], y: cl.f64[:]) -> None:
            x[1:] += y[:-1]

        x = np.ones(3)
        cl.jit(f)(x, x.copy())
    """
    return ValueError(message)


@exception("CL1816")
def unlike_result(message: str) -> ValueError:
    """What is given as `out` has the structure and the shapes of the result.

    It has None in place of what is not to be filled, as of all that is no array.

    Fails:

        def f(x: cl.f64[:]) -> float:
            return np.sum(x * x)

        cl.value_and_grad(f)(np.ones(3), out=np.empty(3))

    Works:

        def f(x: cl.f64[:]) -> float:
            return np.sum(x * x)

        cl.value_and_grad(f)(np.ones(3), out=(None, np.empty(3)))
    """
    return ValueError(message)
