#!/usr/bin/python3
"""Figure: the time of fork and of the first writes after it, against the size of a block from calloc."""

from __future__ import annotations

import functools
import sys

from zerotax_plots import main, titles
from matplotlib.figure import Figure

from zerotax_plots.panels import LineFigure, Row
from zerotax_plots.results import Na, Point, Results, load, total

FIGURE = "fork_after_calloc"


def fork_ns(point: Point, part: str = "median") -> float | Na:
    """Returns the nanoseconds of fork() in the parent."""
    return point.figure("fork", "fork_ns", part)


def writes_ns(point: Point) -> float | Na:
    """Returns the nanoseconds of the child's and the parent's first writes together: the sum of the medians."""
    return total([point.figure("fork", process, "write_ns", "median")
                  for process in ("child", "parent")])


def draw(results: Results) -> Figure:
    """Draws the figure: two rows of panels with times in nanoseconds, log-log."""
    shown = results.of_case(FIGURE)
    if not any(point.status == "ok" for point in shown.points):
        raise main.NothingToDraw(
            "no point of the case fork_after_calloc was measured; run "
            "`zerotax run --case fork_after_calloc --size 1MiB --size 1GiB`")
    rows = [Row("time of fork()", fork_ns,
                lambda point: (fork_ns(point, "p05"), fork_ns(point, "p95"))),
            Row("first writes after it", writes_ns)]
    figure = LineFigure(shown, rows, base=None)
    figure.notes.insert(0, "Lower row: the child writes to each page of a quarter of the block, then "
                           "the parent to each page of a half. Huge pages are off.")
    return figure.draw(titles.forks(shown) or "Fork after calloc, by the size of the block", 2.75)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=functools.partial(load, case=FIGURE)))
