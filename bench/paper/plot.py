"""A curve as a picture: the same bytes for the same points."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.paper.claim import Curve

MARKERS = "osD^vP*X"


def write_plot(curve: Curve, path: Path) -> None:
    """Draw all lines of a curve into one SVG file."""
    # Names inside the file are hashes; without this salt they differ in every run.
    with mpl.rc_context({"svg.hashsalt": curve.name, "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        for marker, series in zip(MARKERS * 2, curve.series, strict=False):
            x, y = zip(*series.points, strict=True)
            axes.plot(x, y, marker=marker, markersize=4, label=series.name)
        if curve.is_log:
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
        axes.set(title=f"{curve.title} ({curve.place})", xlabel=curve.x, ylabel=curve.y)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
        figure.savefig(path, metadata={"Date": None})
