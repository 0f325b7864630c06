#!/usr/bin/python3
"""Figure: the cost of recorded programs under every allocator, compared with the first allocator."""

from __future__ import annotations

import sys

from zerotax_plots import main, workloads
from matplotlib import colors
from matplotlib.figure import Figure

from zerotax_plots.documents import document_of, load_document
from zerotax_plots.files import NothingToDraw
from zerotax_plots.heat import draw_panels
from zerotax_plots.layout import Layout
from zerotax_plots.results import Results

FIGURE = "workloads"
LEFT, BELOW = 0.85, 0.95   # inches
PANELS = (("zeros written", workloads.zeros, 8), ("most memory held", workloads.peak, 4), ("CPU time", workloads.cpu, 4))


def ratios(values: list[float | None]) -> list[float | str]:
    """Returns the ratios to the first value."""
    base = values[0]
    return [value / base if base and value else "n/a" for value in values]


def draw(results: Results) -> Figure:
    """Draws the figure: zeros, memory and time, from left to right."""
    document = document_of(results, workloads.FILE, workloads.SCHEMA, workloads.REMEDY)
    names = workloads.names(document)
    if not names[1:]:
        raise NothingToDraw(f"{workloads.FILE} has fewer than two allocators; {workloads.REMEDY}")
    page = Layout(document["sentence"].removesuffix(".") or "Real programs under every allocator",
                  Results(results.source, document, []), [f"As a multiple of {names[0]}'s. Orange: dearer; violet: cheaper."])
    panels = [(title, [(name, ratios(values)) for name, values in workloads.matrix(document, value)],
               colors.LogNorm(1 / most, most)) for title, value, most in PANELS]
    return draw_panels(page, panels, names, "allocator", LEFT, BELOW)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__,
                       load=lambda path: load_document(path, workloads.FILE, workloads.SCHEMA, workloads.REMEDY)))
