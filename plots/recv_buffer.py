#!/usr/bin/python3
"""Figure: megabytes received per second against the size of the receiving buffer."""

from __future__ import annotations

import functools
import sys

from zerotax_plots import main, titles
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from zerotax_plots.axes import rate_axis, size_axis
from zerotax_plots.labels import LABEL_POINTS, LineEnd, end_labels, text_width
from zerotax_plots.layout import MARGIN, WIDTH, Layout, gaps
from zerotax_plots.looks import labels
from zerotax_plots.panels import LEGEND_LINE, legend_shape, lines_of
from zerotax_plots.results import Key, Na, Point, Results, load
from zerotax_plots.style import line_styles

FIGURE = "recv_buffer"
CASES = {"recv_buffer": "by TLS 1.3", "recv_buffer_tcp": "by plain TCP"}
LEFT, HEIGHT, HEADING, BELOW = 1.12, 3.6, 0.38, 0.80   # inches


def rate(point: Point) -> float | Na:
    """Returns the megabytes (10^6 bytes) received per second."""
    value = point.figure("transfer", "mb_per_s")
    return Na("no mb_per_s in the results") if value == 0 else value


def untouched(results: Results, case: str) -> list[Point]:
    """Returns the points of a case in which only the receive writes to the buffer."""
    return [point for point in results.cases.get(case, []) if point.touch == 0]


def draw(results: Results) -> Figure:
    """Draws the figure: a panel each for TLS and plain TCP, if measured, log-log."""
    points = {case: untouched(results, case) for case in CASES}
    points = {case: of for case, of in points.items() if of}
    values = [[rate(point)] for of in points.values() for point in of]
    numbers = [value for (value,) in values if not isinstance(value, Na)]
    if not numbers:
        raise main.NothingToDraw(
            "no point of the case recv_buffer was measured; run "
            "`zerotax run --case recv_buffer --size 100MB --size 1000MiB`")
    shown = Results(results.source, results.run, [p for of in points.values() for p in of])
    keys = lines_of(shown)
    names, looks = labels(keys), line_styles(keys)
    page = Layout(titles.receiving(results) or "Receiving into a buffer from calloc, by its size", results,
                  ["Each operation callocs a buffer, receives 16 KiB into it, copies them out and "
                   "frees it. The server runs beside it on the same machine.", *gaps(values)])
    columns, legend_lines = legend_shape(list(names.values()))
    legend = LEGEND_LINE * legend_lines + 0.06
    figure = page.figure(HEADING + HEIGHT + BELOW + legend)
    total = figure.get_figheight()
    widths = [text_width(name, LABEL_POINTS) for name in names.values()]
    room = 0.34 + max([width for width in widths if width <= 1.6], default=0.1)
    width = (WIDTH - LEFT - len(points) * room - MARGIN) / len(points)
    for column, (case, of) in enumerate(points.items()):
        axes = figure.add_axes(((LEFT + column * (width + room)) / WIDTH,
                                (page.foot + legend + BELOW) / total, width / WIDTH,
                                HEIGHT / total))
        axes.grid(True)
        size_axis(axes, [point.size for point in shown.points], 18 // len(points))
        rate_axis(axes, min(numbers) / 1.6, max(max(numbers), min(numbers) * 10) * 1.6)
        axes.set_title(f"received {CASES[case]}", loc="left", fontsize=11, pad=7)
        axes.set_xlabel("size of the buffer")
        axes.tick_params(labelleft=column == 0)
        if column == 0:
            axes.set_ylabel("received per second (log scale)")
        lines(axes, of, keys, names, looks, room)
    figure.legend([Line2D([], [], **looks[key]) for key in keys], [names[key] for key in keys],
                  ncol=columns, loc="upper left", frameon=False, fontsize=LABEL_POINTS, handlelength=3.3,
                  borderpad=0, borderaxespad=0, columnspacing=1.1,
                  bbox_to_anchor=(MARGIN / WIDTH, (page.foot + legend) / total))
    return figure


def lines(axes: Axes, points: list[Point], keys: list[Key], names: dict[Key, str],
          looks: dict[Key, dict], room: float) -> None:
    """Draws one line for each allocator, with its name at the end."""
    ends = []
    for place, key in enumerate(keys):
        of = sorted((point for point in points if point.key == key), key=lambda point: point.size)
        drawn = [(p.size, value) for p in of for value in [rate(p)] if not isinstance(value, Na)]
        if not drawn:
            continue
        axes.plot(*zip(*drawn), label=names[key], zorder=3 + place / 100, **looks[key])
        ends.append(LineEnd(*drawn[-1], names[key], looks[key]))
    end_labels(axes, ends, room, HEIGHT)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=functools.partial(load, case="recv_buffer")))
