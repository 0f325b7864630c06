#!/usr/bin/python3
"""Figure: one calloc of 100 MiB and one of 1000 MiB, without any writes to the blocks, per allocator."""

from __future__ import annotations

import math
import sys

from zerotax_plots import main, titles
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from zerotax_plots.axes import time_axis
from zerotax_plots.files import NothingToDraw
from zerotax_plots.labels import LINE, text_width, wrap
from zerotax_plots.layout import MARGIN, WIDTH, Layout, gaps
from zerotax_plots.looks import labels
from zerotax_plots.panels import lines_of
from zerotax_plots.results import Key, Na, Point, Results
from zerotax_plots.style import FAINT
from zerotax_plots.units import counted_text, size_text, time_text

FIGURE = "headline"
SIZES = (100 << 20, 1000 << 20)
# One mark is light and one dark, also in gray. Bars would be misleading, because a log axis has no zero from which bars
# could start.
LOOKS = {SIZES[0]: {"color": "#8CBFE0", "marker": "o"}, SIZES[1]: {"color": "#0063A2", "marker": "s"}}
APART = 0.38   # distance between the marks of an allocator, in units of GROUP
GROUP = 0.56   # distance between allocators, in inches
NAME_POINTS, VALUE_POINTS = 11.0, 10.5


def chosen(results: Results) -> dict[Key, dict[int, Point]]:
    """Returns the points for each line, by size in bytes.

    The figure draws only points with the smallest touched fraction.
    """
    touch = results.touches()[0]
    return {key: {point.size: point for point in results.of(key, touch) if point.size in SIZES}
            for key in lines_of(results)}


def draw(results: Results) -> Figure:
    """Draws the figure: times in nanoseconds as marks on a log axis, the fastest first."""
    points = chosen(results)
    drawn = [point for of in points.values() for point in of.values()]
    names = labels(list(points))
    times: dict[Key, dict[int, float]] = {key: {} for key in points}
    values = [[point.figure("calloc_ns", "median")] for point in drawn]
    for point, (value,) in zip(drawn, values):
        if not isinstance(value, Na):
            times[point.key][point.size] = max(value, 1.0)
    if not any(times.values()):
        raise NothingToDraw("no calloc of 100 MiB or 1000 MiB has a time; run "
                            "`zerotax run --size 100MiB --size 1000MiB --touch 0`")
    keys = sorted((key for key in points if points[key]),
                  key=lambda key: (times[key].get(SIZES[1], math.inf),
                                   times[key].get(SIZES[0], math.inf), names[key]))
    page = Layout(titles.headline(results) or "How long one calloc takes", results,
                  ["Mark: median time of one calloc. Whisker: 5th to 95th percentile. Beside it: "
                   "the page faults inside that calloc.", *gaps(values)])
    texts = [wrap(names[key], 2.9, NAME_POINTS) for key in keys]
    height = max(GROUP, NAME_POINTS * LINE / 72 * max(map(len, texts)) + 0.06) * len(keys) + 0.1
    figure = page.figure(0.42 + height + 0.55)
    total = figure.get_figheight()
    left = max(text_width(line, NAME_POINTS) for text in texts for line in text) + 0.3
    room = 0.3 + text_width("999 ms  9,999,999 faults", VALUE_POINTS, bold=True)
    axes = figure.add_axes((left / WIDTH, (page.foot + 0.55) / total,
                            (WIDTH - left - MARGIN - room) / WIDTH, height / total))
    numbers = [time for of in times.values() for time in of.values()]
    axes.grid(True, axis="x")
    time_axis(axes, min(numbers) / 1.6, max(max(numbers) * 1.3, min(numbers) * 10), on="x")
    for row, key in enumerate(keys):
        for side, size in zip((-0.5, 0.5), SIZES):
            _mark(axes, row + side * APART, size, points[key].get(size), times[key].get(size))
    axes.set_ylim(len(keys) - 0.5 + 0.05, -0.5 - 0.05)
    axes.set_yticks(range(len(keys)), ["\n".join(text) for text in texts],
                    fontsize=NAME_POINTS)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("time of one calloc (log scale)")
    figure.legend([Line2D([], [], linestyle="none", markersize=9, markeredgecolor="black", markeredgewidth=0.6, **LOOKS[size])
                   for size in SIZES], [f"calloc of {size_text(size)}" for size in SIZES],
                  ncol=2, loc="upper left", frameon=False, borderpad=0, borderaxespad=0,
                  bbox_to_anchor=(left / WIDTH, (total - page.head - 0.14) / total))
    return figure


def _mark(axes: Axes, y: float, size: int, point: Point | None, time: float | None) -> None:
    start = axes.get_xlim()[0]
    if point is None or time is None:
        value = point.figure("calloc_ns", "median") if point is not None else None
        text = value.kind if isinstance(value, Na) else "not measured"
        axes.annotate(f"{size_text(size)}: {text}", (start, y), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=VALUE_POINTS, color=FAINT)
        return
    axes.axhline(y, color="#E8E8E8", linewidth=0.7, zorder=0)
    end = time
    low, high = point.figure("calloc_ns", "p05"), point.figure("calloc_ns", "p95")
    if not isinstance(low, Na) and not isinstance(high, Na):
        axes.plot([max(low, start), max(high, start)], [y, y], color="black", linewidth=1.1,
                  marker="|", markersize=5, clip_on=False)
        end = max(time, high)
    axes.plot([time], [y], linestyle="none", markersize=9, markeredgecolor="black", markeredgewidth=0.6, zorder=3,
              clip_on=False, **LOOKS[size])
    faults = point.figure("calloc_faults")
    aside = "" if isinstance(faults, Na) else f"  {counted_text(faults, 'fault')}"
    value = axes.annotate(time_text(time), (end, y), xytext=(9, 0), textcoords="offset points",
                          va="center", fontsize=VALUE_POINTS, weight="bold",
                          annotation_clip=False)
    axes.annotate(aside, (1, 0.5), xycoords=value, xytext=(0, 0), textcoords="offset points",
                  va="center", fontsize=VALUE_POINTS, color=FAINT, annotation_clip=False)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__))
