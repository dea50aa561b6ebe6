"""Leaving the second of two calls to another thread, as "Pairs" in `chad_rt.h` says.

The text is that of a function's blocks from `leave` on: it runs the first call itself,
and then, unless somebody has taken the second or the first has failed, that.
"""

from __future__ import annotations

from chadllvm.llvm import runtime

# The fork itself: what is above it, the call, its environment, and the branch.
FORK = "%fork = alloca { ptr, ptr, ptr, ptr }"

_LEAVE = """\
leave:
  %list = getelementptr inbounds i8, ptr %ctx, i64 {list}
  %above = load ptr, ptr %list, align 8
  store ptr %above, ptr %fork, align 8
  %run.at = getelementptr inbounds i8, ptr %fork, i64 8
  store ptr {second}, ptr %run.at, align 8
  %block.at = getelementptr inbounds i8, ptr %fork, i64 16
  store ptr %block, ptr %block.at, align 8
  %branch.at = getelementptr inbounds i8, ptr %fork, i64 24
  store ptr null, ptr %branch.at, align 8
  store ptr %fork, ptr %list, align 8
  %crew.at = getelementptr inbounds i8, ptr %ctx, i64 {crew}
  %crew = load ptr, ptr %crew.at, align 8
  %lonely = icmp eq ptr %crew, null
  br i1 %lonely, label %begin, label %offer
offer:
  call void @chad_offer(ptr %ctx)
  br label %begin
begin:
  %done = call i32 {first}(ptr %ctx, ptr %block, i64 {number})
  store ptr %above, ptr %list, align 8
  %branch = load ptr, ptr %branch.at, align 8
  %mine = icmp eq ptr %branch, null
  br i1 %mine, label %own, label %join
join:
  %joined = call i32 @chad_join(ptr %ctx, ptr %fork, i32 %done)
  ret i32 %joined
own:
  %status = phi i32 [ %done, %begin ]{otherwise}
  %good = icmp eq i32 %status, 0
  br i1 %good, label %next, label %failed
next:
  %last = call i32 {second}(ptr %ctx, ptr %block, i64 1)
  ret i32 %last
failed:
  ret i32 %status"""


def leave(first: str, second: str, number: int = 0, otherwise: str = "") -> str:
    """The blocks, for two functions and the number that the first is called with.

    `otherwise`: where else the first may have been run, as one more of the phi's.
    """
    return _LEAVE.format(
        first=first,
        second=second,
        number=number,
        otherwise=otherwise,
        list=runtime.FORKS_OFFSET,
        crew=runtime.CREW_OFFSET,
    )
