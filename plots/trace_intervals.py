#!/usr/bin/python3
"""Figure: the distribution of the times between two events of a trace.

RESULTS is the file of `zerotax trace summary --begin TYPE --end TYPE --json`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from zerotax_plots import main
from matplotlib.figure import Figure

from zerotax_plots.documents import document_of, load_document
from zerotax_plots.files import NothingToDraw
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.units import count_text, tick_time_text

FIGURE = "trace_intervals"
FILE = "intervals.json"
SCHEMA = "zerotax.trace/1"
REMEDY = "give the file of `zerotax trace summary --begin TYPE --end TYPE --json FILE`"
LEFT, HEIGHT, BELOW = 1.0, 3.4, 0.75   # inches
MOST_LABELS = 14
COLOUR = "#0063A2"


def load(source: str | Path) -> Results:
    """Loads the file of `zerotax trace summary --json`, or the intervals.json of a folder, as a run without points."""
    return load_document(source, FILE, SCHEMA, REMEDY)


def draw(results: Results) -> Figure:
    """Draws the figure: a bar for each class of times, on a linear axis from zero."""
    document = document_of(results, FILE, SCHEMA, REMEDY)
    intervals: dict[str, Any] = document["intervals"]
    if not intervals.get("histogram"):
        raise NothingToDraw(f"{results.source}: contains no intervals; {REMEDY}")
    rows = intervals["histogram"]
    page = Layout(intervals["sentence"], Results(results.source, document, []),
                  ["Each bar counts the times from its left limit up to its right limit; limits go 1, 2, 5, 10."])
    figure = page.figure(HEIGHT + BELOW)
    height = figure.get_figheight()
    axes = figure.add_axes((LEFT / WIDTH, (page.foot + BELOW) / height, (WIDTH - LEFT - MARGIN) / WIDTH,
                            (HEIGHT - 0.25) / height))
    counts = [row["count"] for row in rows]
    axes.grid(True, axis="y")
    axes.bar(range(len(rows)), counts, width=1.0, align="edge", color=COLOUR, edgecolor="white", linewidth=0.8)
    limits = [row["from_ns"] for row in rows] + [rows[-1]["to_ns"]]
    every = -(-len(limits) // MOST_LABELS)
    places = list(range(0, len(limits), every))
    axes.set_xticks(places, [tick_time_text(limits[place]) if limits[place] else "0" for place in places])
    axes.set_xlim(0, len(rows))
    axes.set_ylim(0, max(counts) * 1.12)
    axes.set_xlabel("time between the two events")
    axes.set_ylabel("times")
    for place, count in enumerate(counts):
        if count and len(rows) <= 2 * MOST_LABELS:
            axes.annotate(count_text(count), (place + 0.5, count), ha="center", va="bottom", xytext=(0, 2),
                          textcoords="offset points", fontsize=9)
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load))
