#!/usr/bin/python3
"""Figure: the behavior of calloc in all releases of several allocators. Columns are releases, and rows are sizes.

RESULTS is a folder with a folder for each allocator, made by `zerotax history --out`.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from zerotax_plots import main
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from releases import NAME, SMALL, draw_cell, draw_legend, histories_of, inches, legend_height
from zerotax_plots.histories import Version, lines_of, load_all, short, word_at
from zerotax_plots.labels import text_width
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.style import FAINT, INK
from zerotax_plots.units import size_text

FIGURE = "years"
COLUMN, ROW, BESIDE = 0.27, 0.19, 0.3   # inches: width of a release's column, height of a size's row, gap between bands
# inches: space above the cells, space below the cells, gap between lines of bands
NAMES, YEARS, BELOW = 0.6, 0.2, 0.12
# angle in degrees of the names of releases; inches by which the last name extends beyond its column
SLANT, OVER = 55, 0.25
NOTE = "Bold: a release that changed a count, at any size, in the first call or in later ones. A band ends where dates go back."


class Band(NamedTuple):
    """Consecutive releases of an allocator, and their position in inches."""

    name: str
    versions: list[Version]
    left: float
    line: int


def bands_of(documents: list[dict[str, Any]], sizes: float) -> list[Band]:
    """Returns the bands from left to right. A line has as many bands as fit. Each band has a unique name. `sizes` is
    the width for the names of sizes.
    """
    bands: list[Band] = []
    at, line = MARGIN, 0
    for document in documents:
        lines = lines_of(document["versions"], int((WIDTH - 2 * MARGIN - sizes - OVER) / COLUMN))
        for versions in lines:
            ends = f" {short(versions[0]['name'])} to {short(versions[-1]['name'])}" if len(lines) > 1 else ""
            name = document["allocator"] + ends
            width = sizes + max(len(versions) * COLUMN, text_width(name, NAME, bold=True) - sizes)
            if at > MARGIN and at + width + OVER > WIDTH - MARGIN:
                at, line = MARGIN, line + 1
            bands.append(Band(name, versions, at, line))
            at += width + BESIDE
    return bands


def measured(documents: list[dict[str, Any]]) -> list[Version]:
    """Returns the releases that could be built and measured."""
    return [version for document in documents for version in document["versions"] if "pieces" in version]


def draw_band(axes: Axes, band: Band, top: float, sizes: list[int], room: float) -> None:
    """Draws a band. `room` is the width for the names of sizes."""
    cells, foot = top + NAMES, top + NAMES + len(sizes) * ROW
    axes.text(band.left, top + 0.14, band.name, fontsize=NAME, weight="bold", color=INK)
    for row, size in enumerate(sizes):
        axes.text(band.left + room - 0.08, cells + (row + 0.5) * ROW, size_text(size), fontsize=SMALL, ha="right",
                  va="center_baseline", color=INK)
    years = [version["date"][:4] for version in band.versions]
    for column, version in enumerate(band.versions):
        left = band.left + room + column * COLUMN
        axes.text(left + COLUMN / 2 - 0.04, cells - 0.04, short(version["name"]), fontsize=SMALL, rotation=SLANT,
                  rotation_mode="anchor", weight="bold" if version["changed"] else "normal", color=INK)
        year = years[column]
        if column == 0 or year != years[column - 1]:
            axes.plot([left, left], [foot + 0.02, foot + 0.14], color=FAINT, linewidth=0.6)
            axes.text(left + 0.03, foot + 0.14, year if years.count(year) > 1 else f"’{year[2:]}", fontsize=SMALL - 1,
                      color=FAINT)
        for row, size in enumerate(sizes):
            draw_cell(axes, word_at(version, size), (left + 0.015, cells + row * ROW + 0.015), (COLUMN - 0.03, ROW - 0.03))


def draw(results: Results) -> Figure:
    """Draws the figure: bands of releases, oldest first."""
    shown = histories_of(results)
    years = [version["date"][:4] for version in measured(shown.documents)]
    page = Layout(f"What calloc does in {len(years)} releases, {min(years)} to {max(years)}", shown.head, [NOTE, *shown.notes])
    room = max(text_width(size_text(size), SMALL) for size in shown.sizes) + 0.12
    bands = bands_of(shown.documents, room)
    line = NAMES + len(shown.sizes) * ROW + YEARS + BELOW
    height = (bands[-1].line + 1) * line
    figure = page.figure(legend_height(shown) + height + 0.05)
    axes = inches(figure, page, height)
    for band in bands:
        draw_band(axes, band, band.line * line, shown.sizes, room)
    draw_legend(figure, page, shown)
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load_all))
