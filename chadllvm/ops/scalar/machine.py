"""Instructions of the loop language that no primitive of the core is.

Lowerings and the passes of `lower/` make them.
"""

from __future__ import annotations

from chadllvm.ir.op import Speculation
from chadllvm.ops.scalar.row import alone, instruction, machine, runtime

# As `minimum` and `maximum`, but -0.0 is less than 0.0; a reduction by them is
# vectorised.
instruction("least", "ff->f", machine(3, 4))
instruction("largest", "ff->f", machine(3, 4))
# The same where the first is not NaN: the second never wins if it is, and which of two
# zeros does is open.
instruction("lesser", "ff->f", machine(1, 4))
instruction("greater", "ff->f", machine(1, 4))
# Division truncates; the divisor is not zero, the least i64 over -1 wraps around. The
# third is that of unsigned integers.
instruction("idiv", "ii->i", alone(10, 15, speculation=Speculation.BY_ONE))
instruction("irem", "ii->i", alone(10, 19, speculation=Speculation.BY_ONE))
instruction("udiv", "ii->i", alone(10, 14, speculation=Speculation.BY_ONE))
instruction("iult", "ii->b", machine())
# The number itself, where it is the size of a row (`LoopBuilder.stride`).
instruction("stride", "i->i", machine(speculation=Speculation.SAFE))
# Whether two pointers are the same.
instruction("same", "pp->b", alone(1, 1, speculation=Speculation.NEVER))
# The integer that is held as the same bits.
instruction("bits", "d->i", machine(1, 2))
# The float is within the range of i64.
instruction("to_int", "f->i", machine(2, 7, speculation=Speculation.SAFE))
# Whether the result is an i64; 0 or 1 for a power.
for _name in ("add_fits", "sub_fits", "mul_fits"):
    instruction(_name, "ii->b", alone(2, 5))
instruction("power_fits", "ii->i", runtime(9, 7, most=1 << 9))
