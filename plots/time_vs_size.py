#!/usr/bin/python3
"""Figure: the time of calloc, and of calloc, touch and free together, against size."""

from __future__ import annotations

import sys

from zerotax_plots import main, titles
from matplotlib.figure import Figure

from zerotax_plots.panels import LineFigure, Row
from zerotax_plots.results import Results
from zerotax_plots.summary import said

FIGURE = "time_vs_size"


def draw(results: Results) -> Figure:
    """Draws the figure: two rows of panels with times in nanoseconds, log-log."""
    rows = [
        Row("time of one calloc", lambda point: point.figure("calloc_ns", "median"),
            lambda point: (point.figure("calloc_ns", "p05"), point.figure("calloc_ns", "p95"))),
        Row("calloc + touch + free", said(results, "operation_ns")),
    ]
    figure = LineFigure(results, rows, base=None)
    figure.notes.insert(0, "Lines: median. Shaded: 5th to 95th percentile. Lower row: sum of the "
                           "three medians.")
    return figure.draw(titles.times(results) or "How long calloc takes, by size", 2.75)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__))
