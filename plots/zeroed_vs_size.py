#!/usr/bin/python3
"""Figure: the bytes that calloc itself zeroes, and how many of these were already zero, against size."""

from __future__ import annotations

import sys

from zerotax_plots import main, titles
from matplotlib.figure import Figure

from zerotax_plots.panels import Guide, LineFigure, Row
from zerotax_plots.results import Results

FIGURE = "zeroed_vs_size"


def draw(results: Results) -> Figure:
    """Draws the figure: the zeroed bytes per operation above, and the redundant zeroed bytes below."""
    rows = [Row("zeroed by calloc", lambda point: point.figure("zeroed_bytes")),
            Row("… that was already zero",
                lambda point: point.figure("redundant_zeroed_bytes"))]
    figure = LineFigure(results, rows, base=2, guide=Guide("the size asked for",
                                                           lambda size: size))
    figure.notes.insert(0, "Bytes per operation. Upper row: all that the allocator zeroed. Lower "
                           "row: the redundant ones of them. Grey band: exactly 0; lines in it "
                           "are spread so that each can be seen.")
    return figure.draw(titles.zeroed(results) or "Bytes that calloc zeroes itself, by size", 2.75)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__))
