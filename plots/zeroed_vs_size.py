#!/usr/bin/python3
"""Figure: bytes that calloc zeroes itself, and those of them that were already zero, over size."""

from __future__ import annotations

import sys

import zerotax_main
from matplotlib.figure import Figure

from zerotax_looks import labels
from zerotax_panels import Guide, LineFigure, Row
from zerotax_results import Na, Results
from zerotax_words import calloc_of, named, untouched_extreme

FIGURE = "zeroed_vs_size"


def title(results: Results) -> str:
    """Who writes zeros over memory that was zero already."""
    extreme = untouched_extreme(results)
    plain = "Bytes that calloc zeroes itself, by size"
    if extreme is None or extreme[0] != 0:
        return plain
    names = labels(results.series())
    known = [(names[point.key], value) for key in results.series()
             for point in results.of(key, extreme[0]) if point.size == extreme[1]
             for value in [point.figure("redundant_zeroed_bytes")] if not isinstance(value, Na)]
    found = [name for name, value in known if value >= 0.98 * extreme[1]]
    if not found:
        return plain
    verb = "writes" if len(found) == 1 else "write"
    return f"In {calloc_of(*extreme)}, {named(found, len(known))} {verb} zeros over zeros"


def draw(results: Results) -> Figure:
    """The figure: bytes zeroed per operation above, the redundant ones of them below."""
    rows = [Row("zeroed by calloc", lambda point: point.figure("zeroed_bytes")),
            Row("… that was already zero",
                lambda point: point.figure("redundant_zeroed_bytes"))]
    figure = LineFigure(results, rows, base=2, guide=Guide("the size asked for",
                                                           lambda size: size))
    figure.notes.insert(0, "Bytes per operation. Upper row: all that the allocator zeroed. Lower "
                           "row: the redundant ones of them. Grey band: exactly 0; lines in it "
                           "are spread so that each can be seen.")
    return figure.draw(title(results), 2.75)


if __name__ == "__main__":
    sys.exit(zerotax_main.main(FIGURE, draw, __doc__))
