"""The C runtime's structures are walked without recursion, however deep they are (§7).

The numbers of nanoseconds are those of the walk, not of the calls that build.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.paper.claim import Claim
from bench.paper.laboratory import Laboratory, laboratory
from chadllvm.backend.runtime import runtime

LEAVES = 8


def claims(depth: int) -> list[Claim]:
    """Bags, cotangents and trees of this depth."""
    return [_bags(depth), _cotangents(depth), _trees(depth)]


def _bag(lab: Laboratory, shape: str, depth: int) -> Any:
    plus, bag = lab.plus(), lab.ffi.NULL
    one, context, arena = lab.lib.chad_bag_one, lab.context, lab.arena
    if shape == "left":
        for k in range(depth):
            bag = plus(bag, one(context, arena, k % LEAVES, 1.0))
        return bag
    if shape == "right":
        for k in range(depth):
            bag = plus(one(context, arena, k % LEAVES, 1.0), bag)
        return bag
    row = [one(context, arena, k % LEAVES, 1.0) for k in range(depth)]
    while len(row) > 1:
        odd = row[len(row) & ~1 :]
        row = [plus(a, b) for a, b in zip(row[::2], row[1::2], strict=False)] + odd
    return row[0]


def _bags(depth: int) -> Claim:
    times, peaks, is_right = [], [], True
    for shape in ("left", "right", "balanced"):
        with laboratory() as lab:
            array = lab.array(_bag(lab, shape, depth), LEAVES)
            steps, seconds = lab.collect(array)
            sums = [array.data[k] for k in range(LEAVES)]
            times.append(f"{seconds / depth * 1e9:.0f}")
            peaks.append(lab.peak() / depth)
            is_right &= sum(sums) == depth and steps == 2 * depth - 1 + LEAVES
    return Claim(
        "collect is iterative: bags may be as deep as they are large",
        "§7",
        f"{depth:,} contributions leaning left, right, and balanced: "
        f"{', '.join(times)} ns each, at most {max(peaks):.0f} bytes each in all",
        is_right and max(peaks) < 160,
    )


def _cotangents(depth: int) -> Claim:
    """Chains of pairs that lean to the left and to the right, added to themselves."""
    measured, is_right = [], True
    for is_left in (True, False):
        with laboratory() as lab:
            lib, context, arena = lab.lib, lab.context, lab.arena
            leaf = ct = lib.chad_ct_real(context, arena, 1.0)
            for _ in range(depth):
                first, second = (ct, leaf) if is_left else (leaf, ct)
                ct = lib.chad_ct_pair(context, arena, first, second)
            total = lab.ffi.new("chad_ct_t const **")
            before, start = lab.steps(), time.perf_counter()
            status = lib.chad_ct_plus(context, arena, ct, ct, total)
            seconds = time.perf_counter() - start
            is_right &= status == 0 and lab.steps() - before == 2 * depth + 1
            measured.append(f"{seconds / depth * 1e9:.0f}")
    return Claim(
        "sums of cotangents are iterative too",
        "§4.3",
        f"chains of {depth:,} pairs: {', '.join(measured)} ns a pair",
        is_right,
    )


def _trees(depth: int) -> Claim:
    """Trees of sums, as deep as they are large: each leaf's cotangent is its place."""
    rt, is_right = runtime(), True

    @rt.ffi.callback(
        "int32_t(void *, chad_word_t, chad_word_t, chad_word_t *, chad_word_t *)"
    )
    def step(_: Any, d: int, function: int, left: Any, right: Any) -> int:
        left[0], right[0] = d, d + function
        return 0

    for is_left in (True, False):
        with laboratory() as lab:
            lib, context, arena = lab.lib, lab.context, lab.arena
            leaf = tree = lib.chad_tree_leaf(context, arena, 0)
            for k in range(1, depth):
                left, right, size = (tree, leaf, k) if is_left else (leaf, tree, 1)
                tree = lib.chad_tree_node(context, arena, left, 0, size, right)
            leaves = lab.ffi.new("int64_t[]", depth)
            status = lib.chad_untree(context, tree, 0, step, lab.ffi.NULL, leaves)
            found = np.frombuffer(lab.ffi.buffer(leaves), np.int64)
            is_right &= status == 0 and bool((found == np.arange(depth)).all())
    return Claim(
        "unTree is iterative, and its leaves come in order",
        "§7, Fig. 9",
        f"trees of {depth:,} leaves, leaning left and right",
        is_right,
    )
