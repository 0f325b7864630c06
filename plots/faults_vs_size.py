#!/usr/bin/python3
"""Figure: page faults inside calloc, and in the whole operation, against size."""

from __future__ import annotations

import sys

from zerotax_plots import main, titles
from matplotlib.figure import Figure

from zerotax_plots.panels import Guide, LineFigure, Row
from zerotax_plots.results import Results
from zerotax_plots.summary import said
from zerotax_plots.units import size_text

FIGURE = "faults_vs_size"


def draw(results: Results) -> Figure:
    """Draws the figure: two rows of panels with faults per operation. Zeros lie in a separate band."""
    page = results.page_bytes()
    rows = [Row("faults inside calloc", lambda point: point.figure("calloc_faults")),
            Row("calloc + touch + free", said(results, "operation_faults"))]
    figure = LineFigure(results, rows, base=10,
                        guide=Guide(f"a fault per {size_text(page)} page",
                                    lambda size: size / page))
    figure.notes.insert(0, "Page faults per operation. Grey band: exactly 0; lines in it are "
                           "spread so that each can be seen.")
    return figure.draw(titles.faults(results) or "Page faults of calloc, by size", 2.75)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__))
