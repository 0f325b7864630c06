"""Heat maps of ratios beside each other: a row for each program, a column for each contender, and white for 1."""

from __future__ import annotations

from typing import Sequence

from matplotlib import colors
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from zerotax_plots import style
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.units import number_text


GAP, HEADING, ROW = 0.14, 0.42, 0.27   # inches
# The name and the values of each row. A word in place of a ratio is the reason why the ratio is missing.
Rows = Sequence[tuple[str, Sequence["float | str"]]]


def draw_panels(page: Layout, panels: Sequence[tuple[str, Rows, colors.LogNorm]], contenders: Sequence[str], xlabel: str,
                left: float, below: float) -> Figure:
    """Returns a figure of heat maps with the same rows. Each panel is the title, the rows and the norm of a map. `left`
    and `below` are the inches for the names of rows and of contenders.
    """
    height = ROW * len(panels[0][1])
    figure = page.figure(HEADING + height + below)
    total = figure.get_figheight()
    width = (WIDTH - left - MARGIN - GAP * (len(panels) - 1)) / len(panels)
    for number, (title, rows, norm) in enumerate(panels):
        axes = figure.add_axes(((left + number * (width + GAP)) / WIDTH, (page.foot + below) / total, width / WIDTH,
                                height / total))
        _draw(axes, rows, contenders, norm)
        axes.set_title(title, loc="left", fontsize=11, pad=7)
        axes.set_xlabel(xlabel)
        axes.tick_params(labelleft=number == 0)
        if number == 0:
            axes.set_ylabel("program")
            axes.yaxis.set_label_coords(-(left - 0.2) / width, 0.5)
    return figure


def _draw(axes: Axes, rows: Rows, contenders: Sequence[str], norm: colors.LogNorm) -> None:
    axes.imshow([[float("nan") if isinstance(value, str) else value for value in values] for _, values in rows],
                cmap="PuOr_r", norm=norm, aspect="auto")
    for row, (_, values) in enumerate(rows):
        for column, value in enumerate(values):
            dark = not isinstance(value, str) and abs(norm(value) - 0.5) > 0.4
            axes.text(column, row, value if isinstance(value, str) else number_text(value), ha="center", va="center",
                      fontsize=5.8, color="white" if dark else style.INK)
    axes.set_xticks(range(len(contenders)), contenders, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=9)
    for spine in axes.spines.values():
        spine.set_visible(False)
