"""Figures of lines against size: a row of panels for each metric, a column for each touch, one y axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from zerotax_plots.axes import ZERO_BAND, size_axis, time_axis, zero_axis
from zerotax_plots.files import NothingToDraw
from zerotax_plots.labels import LABEL_POINTS, LineEnd, end_labels, text_width, wrap
from zerotax_plots.lanes import changes_of
from zerotax_plots.layout import MARGIN, WIDTH, Layout, gaps
from zerotax_plots.looks import labels, order
from zerotax_plots.results import Key, Na, Point, Results
from zerotax_plots.style import FAINT, line_styles
from zerotax_plots.summary import touch_heading
from zerotax_plots.units import plain_text

LEFT, BETWEEN_ROWS, HEADING, BELOW = 1.08, 0.32, 0.38, 0.80   # inches
LEGEND_LINE, HANDLE = 0.24, 0.74   # inches: height of a line, width of an entry without its name
MOST_COLUMNS = 2


@dataclass(frozen=True)
class Row:
    """One metric of a figure. `band` returns the 5th and 95th percentile, if there are any."""

    title: str
    value: Callable[[Point], float | Na]
    band: Callable[[Point], tuple[float | Na, float | Na]] | None = None


@dataclass(frozen=True)
class Guide:
    """A thin reference line: `value` returns its height for a size in bytes."""

    label: str
    value: Callable[[float], float]


def lines_of(results: Results) -> list[Key]:
    """Returns the lines to draw. Known allocators come first, and the default settings of an allocator precede other
    settings.
    """
    return sorted(results.series(), key=lambda key: (order(key.allocator), key))


def columns_of(results: Results) -> tuple[list[float], list[str]]:
    """Returns the touch values to show, and a footnote on the values without space. The smallest and the largest value
    are always shown if possible.
    """
    touches = results.touches()
    if len(touches) <= MOST_COLUMNS:
        return touches, []
    hidden = ", ".join(plain_text(touch) for touch in touches[1:-1])
    return [touches[0], touches[-1]], [f"Measured but not drawn here: touch {hidden}."]


def legend_shape(entries: list[str]) -> tuple[int, int]:
    """Returns the (columns, lines) of a legend as wide as the page, with the fewest lines that suffice."""
    texts = [entry.split("\n") for entry in entries]
    widths = [max(text_width(line, LABEL_POINTS) for line in text) + HANDLE for text in texts]
    for lines in range(1, len(widths)):   # a legend is filled column by column
        columns = [widths[i:i + lines] for i in range(0, len(widths), lines)]
        if max(map(len, texts)) == 1 and sum(map(max, columns)) <= WIDTH - 2 * MARGIN:
            return len(columns), lines
    return 1, sum(map(len, texts))


class LineFigure:
    """A figure of lines over size. `base` is None for times, 10 for counts and 2 for bytes."""

    def __init__(self, results: Results, rows: list[Row], base: int | None,
                 guide: Guide | None = None) -> None:
        self.results, self.rows, self.base, self.guide = results, rows, base, guide
        self.keys = lines_of(results)
        self.names = labels(self.keys)
        self.looks = line_styles(self.keys)
        self.touches, self.notes = columns_of(results)
        self.changes = changes_of(results.source)
        if any(key.allocator == name for key in self.keys for name, _, _ in self.changes):
            self.notes.append("Lines end at thresholds.")
        self.points = [point for point in results.points if point.touch in self.touches]
        values = [[row.value(point) for row in rows] for point in self.points]
        self.notes += gaps(values)
        self.numbers = [v for figures in values for v in figures if not isinstance(v, Na)]
        if not self.numbers:
            why = next(v.why for figures in values for v in figures if isinstance(v, Na))
            raise NothingToDraw(f"no point has the metrics drawn here ({why}); "
                                "`zerotax doctor` says what this machine can measure")

    def draw(self, title: str, height: float) -> Figure:
        """Returns the figure, with panels `height` inches high."""
        page = Layout(title, self.results, self.notes)
        per_line, legend_lines = legend_shape([self._legend_text(key) for key in self.keys])
        legend = LEGEND_LINE * legend_lines + 0.06
        rows = len(self.rows)
        body = HEADING + rows * height + (rows - 1) * BETWEEN_ROWS + BELOW + legend
        figure = page.figure(body)
        total = figure.get_figheight()
        room = self._label_room()
        width = (WIDTH - LEFT - len(self.touches) * room - MARGIN) / len(self.touches)
        for r, row in enumerate(self.rows):
            bottom = page.foot + legend + BELOW + (rows - 1 - r) * (height + BETWEEN_ROWS)
            for c, touch in enumerate(self.touches):
                left = LEFT + c * (width + room)
                axes = figure.add_axes((left / WIDTH, bottom / total, width / WIDTH,
                                        height / total))
                self._panel(axes, row, touch, room, height)
                axes.tick_params(labelleft=c == 0, labelbottom=r == rows - 1)
                if c == 0:
                    axes.set_ylabel(row.title)
                    axes.yaxis.set_label_coords(-(LEFT - 0.22) / width, 0.5)
                if r == 0:
                    axes.set_title(touch_heading(self.results, touch), loc="left", fontsize=11, pad=7)
                if r == rows - 1:
                    axes.set_xlabel("size asked of calloc")
        handles = [Line2D([], [], **self.looks[key]) for key in self.keys]
        figure.legend(handles, [self._legend_text(key) for key in self.keys], ncol=per_line,
                      loc="upper left",
                      bbox_to_anchor=(MARGIN / WIDTH, (page.foot + legend) / total),
                      frameon=False, fontsize=LABEL_POINTS, handlelength=3.3, borderpad=0,
                      borderaxespad=0, columnspacing=1.1, labelspacing=0.45)
        return figure

    def _legend_text(self, key: Key) -> str:
        return "\n".join(wrap(self.names[key], WIDTH - 2 * MARGIN - HANDLE, LABEL_POINTS))

    def _label_room(self) -> float:
        """Returns the inches to the right of a panel: enough for the widest name that still leaves the panels wide
        enough.
        """
        widths = [text_width(name, LABEL_POINTS) for name in self.names.values()]
        return 0.34 + max([width for width in widths if width <= 1.0], default=0.1)

    def _panel(self, axes: Axes, row: Row, touch: float, room: float, height: float) -> None:
        axes.grid(True)
        size_axis(axes, [point.size for point in self.points], 18 // len(self.touches))
        unit = self._y_axis(axes)
        shown = {key: [(p, row.value(p)) for p in self.results.of(key, touch)]
                 for key in self.keys}
        self._guide(axes, unit, row is self.rows[0] and touch == self.touches[0])
        at_zero = [key for key in self.keys if any(v == 0 for _, v in shown[key])]
        ends = []
        for z, key in enumerate(self.keys):
            # Spreads lines at zero inside the band of zeros. Otherwise, the last line would hide the others.
            zero = 0.0
            if len(at_zero) > 1 and key in at_zero:
                zero = (0.5 - at_zero.index(key) / (len(at_zero) - 1)) * 1.4 * ZERO_BAND * unit
            xs = [point.size for point, _ in shown[key]]
            ys = [math.nan if isinstance(v, Na) else v if v > 0 else zero if self.base else 1.0
                  for _, v in shown[key]]
            look = self.looks[key]
            if row.band is not None:
                self._band(axes, row, key, [point for point, _ in shown[key]], look["color"])
            axes.plot(*self._pieces(key, touch, xs, ys), label=self.names[key], zorder=3 + z / 100, **look)
            known = [(x, y) for x, y in zip(xs, ys) if not math.isnan(y)]
            if known:
                ends.append(LineEnd(*known[-1], self.names[key], look))
        if not ends:
            reasons = [v.why for values in shown.values() for _, v in values if isinstance(v, Na)]
            axes.text(0.5, 0.5, f"n/a: {reasons[0]}" if reasons else "not measured",
                      transform=axes.transAxes, ha="center", color=FAINT)
        end_labels(axes, ends, room, height)

    def _pieces(self, key: Key, touch: float, xs: list[int], ys: list[float]) -> tuple[list[float], list[float]]:
        """Returns the line with a gap at each threshold, because no value between two behaviors is known."""
        changes = self.changes.get((key.allocator, touch, key.thread), [])
        shown_x: list[float] = []
        shown_y: list[float] = []
        for x, y in zip(xs, ys):
            if shown_x and any(shown_x[-1] < at <= x for at in changes):
                shown_x.append(x)
                shown_y.append(math.nan)
            shown_x.append(x)
            shown_y.append(y)
        return shown_x, shown_y

    def _y_axis(self, axes: Axes) -> float:
        if self.base is not None:
            most = [self.guide.value(max(p.size for p in self.points))] if self.guide else []
            return zero_axis(axes, self.numbers + most, self.base)
        # A clock does not resolve times below 1 ns, and a log axis cannot show zero.
        low, high = max(1.0, min(self.numbers)), max(1.0, max(self.numbers))
        time_axis(axes, low / 1.6, max(high, low * 10) * 1.6)
        return 1.0

    def _guide(self, axes: Axes, unit: float, labelled: bool) -> None:
        if self.guide is None:
            return
        low, high = axes.get_xlim()
        sizes = [low * (high / low) ** (k / 64) for k in range(65)]
        sizes = [size for size in sizes if self.guide.value(size) >= unit]
        axes.plot(sizes, [self.guide.value(size) for size in sizes], color="#D6D6D6",
                  linewidth=7, zorder=1, solid_capstyle="butt")
        if labelled and sizes:
            at = sizes[len(sizes) * 9 // 20]    # the label is above the guide, where no allocator's line lies
            axes.annotate(self.guide.label, (at, self.guide.value(at)), xytext=(-9, 3),
                          textcoords="offset points", ha="right", va="bottom", color=FAINT,
                          fontsize=9.5, zorder=2)

    def _band(self, axes: Axes, row: Row, key: Key, points: list[Point], colour: str) -> None:
        assert row.band is not None
        pairs = [row.band(point) for point in points]
        low, high = ([math.nan if isinstance(pair[i], Na) else max(1.0, pair[i])
                      for pair in pairs] for i in (0, 1))
        if not points:
            return
        sizes = [point.size for point in points]
        (xs, lows), (_, highs) = (self._pieces(key, points[0].touch, sizes, ys) for ys in (low, high))
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.14, linewidth=0, zorder=2)
