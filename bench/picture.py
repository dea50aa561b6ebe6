"""The picture of a run: each workload's gradient beside C's and the peers'."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.results import Results, Row

MARKERS = "osD^vP*X"


def write_picture(results: Results, path: Path) -> None:
    """Draw the largest size of each workload into one SVG file.

    The same run gives the same bytes.
    """
    rows = {result.workload: result.rows[-1] for result in results.results}
    series = {"chadllvm": [row.gradient_to_c for row in rows.values()]}
    for peer in results.peers:
        ratios = [_beside_c(row, peer) for row in rows.values()]
        if not all(map(math.isnan, ratios)):  # Some have no gradients.
            series[peer] = ratios
    with mpl.rc_context({"svg.hashsalt": "performance", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.2, 1.2 + 0.3 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.axvline(1.0, color="black", linewidth=1.0)
        for marker, (name, ratios) in zip(MARKERS, series.items(), strict=False):
            style = {"zorder": 3.0} if name == "chadllvm" else {"alpha": 0.7}
            axes.plot(ratios, list(rows), marker, markersize=5, label=name, **style)
        axes.set_xscale("log")
        axes.invert_yaxis()
        axes.set_xlabel("value and gradient: time over that of C derived by hand")
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small")
        figure.savefig(path, metadata={"Date": None})


def _beside_c(row: Row, peer: str) -> float:
    """A peer's gradient over C's; NaN, which is not drawn, if there is none.

    The peer was taken in turns with us, and we with C.
    """
    ratio = row.peers[peer].gradient_ratio if peer in row.peers else None
    return float("nan") if ratio is None else row.gradient_to_c / ratio
