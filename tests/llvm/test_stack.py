"""The stack is aligned to vectors, by what is called from outside."""

from __future__ import annotations

import re

import pytest
from loop_programs import VECTOR, native, sum_of

from chadllvm.backend.jit import host_target
from chadllvm.ir.types import F64
from chadllvm.llvm.stack import aligned
from chadllvm.llvm.target import STACK, Target

pytestmark = pytest.mark.optimised

AVX2 = Target("x86_64-unknown-linux-gnu", "x86-64-v3", (("avx", True),))

TEXT = """
define internal i32 @"f:chunk.0"(ptr %x, i64 range(i64 0, 4) %n) #0 !dbg !3 {
define internal void @add.f64(ptr noalias %to, ptr noalias %from) #0 {
define internal i32 @inner(ptr %x) #0 {
define i32 @f(ptr %x) #0 !dbg !3 {
  %y = call i32 @inner(ptr %x)
  %z = call i32 @spread(ptr @"f:chunk.0", ptr @add.f64)
!3 = !{}
"""

ALIGNED = """
define internal i32 @"f:chunk.0"(ptr %x, i64 range(i64 0, 4) %n) #0 !dbg !3 {
define internal void @add.f64(ptr noalias %to, ptr noalias %from) #0 {
define internal i32 @inner(ptr %x) #0 {
define i32 @f(ptr %x) #0 "stackrealign" !dbg !3 {
  %y = call i32 @inner(ptr %x)
  %z = call i32 @spread(ptr @"f:chunk.0.outside", ptr @"add.f64.outside")
!3 = !{}

define internal i32 @"f:chunk.0.outside"(ptr %x, i64 %n) nounwind "stackrealign" {
  %result = call i32 @"f:chunk.0"(ptr %x, i64 %n) noinline
  ret i32 %result
}
define internal void @"add.f64.outside"(ptr %to, ptr %from) nounwind "stackrealign" {
  call void @add.f64(ptr %to, ptr %from) noinline
  ret void
}
!llvm.module.flags = !{!4}
!4 = !{i32 1, !"override-stack-alignment", i32 32}
"""


def test_who_aligns_the_stack() -> None:
    assert aligned(TEXT, AVX2) == ALIGNED


@pytest.mark.parametrize(
    "target",
    [
        Target("x86_64-unknown-linux-gnu", "x86-64", (("avx", False),)),
        Target("aarch64-unknown-linux-gnu", "generic", ()),
        Target("x86_64-w64-windows-gnu", "x86-64-v3", (("avx", True),)),
    ],
)
def test_other_stacks_are_left_alone(target: Target) -> None:
    assert target.stack == STACK
    assert aligned(TEXT, target) == TEXT


@pytest.mark.skipif(
    not dict(host_target().features).get("avx2"), reason="the processor has no AVX2"
)
def test_spilled_vectors_lie_on_one_line_of_the_cache() -> None:
    """Else their address is a matter of luck."""
    assembly = native(sum_of("tanh"), [VECTOR], F64).asm
    assert re.search(r"%[yz]mm\d+, -?\d*\(%rsp\)", assembly)
    assert f"andq\t$-{host_target().stack}, %rsp" in assembly
