#!/usr/bin/python3
"""Figure: page faults inside calloc, and in the whole operation, over size."""

from __future__ import annotations

import sys

import zerotax_main
from matplotlib.figure import Figure

from zerotax_looks import labels
from zerotax_panels import Guide, LineFigure, Row
from zerotax_results import Na, Results
from zerotax_sums import whole_faults
from zerotax_units import size_text
from zerotax_words import calloc_of, named, untouched_extreme

FIGURE = "faults_vs_size"


def title(results: Results) -> str:
    """Who takes a fault on every page of memory that nobody asked to have written."""
    extreme = untouched_extreme(results)
    plain = "Page faults of calloc, by size"
    if extreme is None:
        return plain
    names = labels(results.series())
    found, every = [], 0
    for key in results.series():
        for point in results.of(key, extreme[0]):
            faults = point.figure("calloc_faults")
            if point.size == extreme[1] and not isinstance(faults, Na):
                every += 1
                # A few pages of slack: some allocators keep a header of their own in there.
                if faults >= 0.98 * point.size / results.page_bytes():
                    found.append(names[key])
    if not found or extreme[0] != 0:
        return plain
    verb = "faults" if len(found) == 1 else "fault"
    return f"Inside {calloc_of(*extreme)}, {named(found, every)} {verb} in every page"


def draw(results: Results) -> Figure:
    """The figure: two rows of panels of faults per operation; zeros lie in a band of their own."""
    page = results.page_bytes()
    rows = [Row("faults inside calloc", lambda point: point.figure("calloc_faults")),
            Row("calloc + touch + free", whole_faults)]
    figure = LineFigure(results, rows, base=10,
                        guide=Guide(f"a fault per {size_text(page)} page",
                                    lambda size: size / page))
    figure.notes.insert(0, "Page faults per operation. Grey band: exactly 0; lines in it are "
                           "spread so that each can be seen.")
    return figure.draw(title(results), 2.75)


if __name__ == "__main__":
    sys.exit(zerotax_main.main(FIGURE, draw, __doc__))
