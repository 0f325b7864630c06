#!/usr/bin/python3
"""Figure: how long calloc takes, and calloc, touch and free together, over size."""

from __future__ import annotations

import sys

import zerotax_main
from matplotlib.figure import Figure

from zerotax_looks import labels
from zerotax_panels import LineFigure, Row
from zerotax_results import Na, Results
from zerotax_sums import whole_time
from zerotax_units import time_text
from zerotax_words import calloc_of, sentence, untouched_extreme

FIGURE = "time_vs_size"


def title(results: Results) -> str:
    """The fastest and the slowest calloc, where the difference shows most."""
    extreme = untouched_extreme(results)
    if extreme is None:
        return "How long calloc takes, by size"
    names = labels(results.series())
    times = []
    for point in results.points:
        value = point.figure("calloc_ns", "median")
        if (point.touch, point.size) == extreme and not isinstance(value, Na):
            times.append((value, names[point.key]))
    if len(times) < 2:
        return "How long calloc takes, by size"
    (fast, first), (slow, last) = min(times), max(times)
    return f"{sentence(calloc_of(*extreme))} takes {time_text(fast)} with {first}, " \
           f"{time_text(slow)} with {last}"


def draw(results: Results) -> Figure:
    """The figure: two rows of panels of times in nanoseconds, log-log."""
    rows = [
        Row("time of one calloc", lambda point: point.figure("calloc_ns", "median"),
            lambda point: (point.figure("calloc_ns", "p05"), point.figure("calloc_ns", "p95"))),
        Row("calloc + touch + free", whole_time),
    ]
    figure = LineFigure(results, rows, base=None)
    figure.notes.insert(0, "Lines: median. Shaded: 5th to 95th percentile. Lower row: sum of the "
                           "three medians.")
    return figure.draw(title(results), 2.75)


if __name__ == "__main__":
    sys.exit(zerotax_main.main(FIGURE, draw, __doc__))
