#!/usr/bin/python3
"""Figure: what calloc does in each release of several allocators, at the sizes that were measured.

RESULTS is a folder with a folder for each allocator, made by `zerotax history --out`.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from zerotax_plots import main
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from history import FILE, REMEDY, SCHEMA
from thresholds_map import LOOKS, UNKNOWN
from zerotax_plots.documents import read_document
from zerotax_plots.files import NothingToDraw, ResultsError
from zerotax_plots.labels import text_width
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.looks import order
from zerotax_plots.results import Results
from zerotax_plots.style import FAINT, INK
from zerotax_plots.units import size_text

FIGURE = "releases"
PITCH, BAR, GAP = 0.24, 0.2, 0.12   # inches: a row, its cells, between allocators
HEADS, LEGEND = 0.25, 0.27          # inches: names of columns, a line of the legend
COLUMNS = 3                         # of the legend
NAME, SMALL = 9.5, 8.5              # points
NOTE = "Colour: what calloc does after a block of that size has been freed, with nothing touched, on the main thread."


def load_all(source: str | Path) -> Results:
    """The histories below a folder, as a run without points; raises ResultsError without any."""
    files = sorted(Path(source).glob(f"*/{FILE}"))
    documents = [document for document in (read_document(file, SCHEMA, REMEDY) for file in files) if "allocator" in document]
    if not documents:
        raise ResultsError(f"{source}: no folder in it has a {FILE} of an allocator; {REMEDY}")
    documents.sort(key=lambda document: order(document["allocator"]))
    return Results(Path(source), {"histories": documents}, [])


def word_at(version: dict[str, Any], size: int) -> str | None:
    """What calloc of this size does; None where that was not measured."""
    return next((piece["word"] for piece in version.get("pieces", []) if piece["from_bytes"] <= size <= piece["to_bytes"]), None)


def draw(results: Results) -> Figure:
    """The figure: a row for each version, oldest first, a column for each size."""
    if "histories" not in results.run:
        raise NothingToDraw("drawn of a folder of histories alone")
    histories = results.run["histories"]
    sizes = sorted({size for document in histories for size in document["grid"]["sizes"]})
    rows = [(document, version) for document in histories for version in document["versions"]]
    if not sizes or not any("pieces" in version for _, version in rows):
        raise NothingToDraw(f"{results.source}: no version was measured; {REMEDY} with --size")
    words = {key: text for document in histories for key, text in document["words"].items()}
    head = Results(results.source, {key: histories[0][key] for key in ("started", "zerotax_version", "environment")}, [])
    why = [f"{document['allocator']} {version['name']}: {version.get('reason', version['state_words'])}"
           for document, version in rows if "pieces" not in version]
    page = Layout("What calloc does, release by release", head, [NOTE, *([f"Not measured: {'; '.join(why)}."] if why else [])])
    names = MARGIN + max(text_width(document["allocator"], NAME, bold=True) for document in histories) + 0.15
    left = names + max(text_width(version["name"], NAME) for _, version in rows) + 0.95
    height = len(rows) * PITCH + (len(histories) - 1) * GAP
    used = {word_at(version, size) or UNKNOWN for _, version in rows for size in sizes}
    legend = math.ceil(len(used) / COLUMNS) * LEGEND
    figure = page.figure(legend + HEADS + height + 0.05)
    total = figure.get_figheight()
    axes = figure.add_axes((0, (page.foot + 0.05) / total, 1, (height + HEADS) / total))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, -HEADS)
    axes.axis("off")
    room = (WIDTH - MARGIN - left) / len(sizes)
    for column, size in enumerate(sizes):
        axes.text(left + (column + 0.5) * room, -0.08, size_text(size), ha="center", fontsize=NAME, color=INK)
    top = 0.0
    for document in histories:
        axes.text(MARGIN, top + PITCH / 2, document["allocator"], fontsize=NAME, weight="bold", va="center_baseline", color=INK)
        for version in document["versions"]:
            axes.text(names, top + PITCH / 2, version["name"], fontsize=NAME, va="center_baseline", color=INK)
            axes.text(left - 0.1, top + PITCH / 2, version["date"][:10], fontsize=SMALL, ha="right", va="center_baseline",
                      color=FAINT)
            for column, size in enumerate(sizes):
                word = word_at(version, size)
                look = LOOKS.get(word or UNKNOWN, LOOKS[UNKNOWN])
                axes.add_patch(Rectangle((left + column * room + 0.02, top + (PITCH - BAR) / 2), room - 0.04, BAR, linewidth=0.5,
                                         facecolor=look.colour if word else "none", edgecolor=look.ink, hatch=look.hatch))
            top += PITCH
        top += GAP
    figure.legend(handles=[Patch(facecolor=look.colour, edgecolor=look.ink, hatch=look.hatch, linewidth=0.6,
                                 label=words.get(word, "not known")) for word, look in LOOKS.items() if word in used],
                  ncol=COLUMNS, loc="upper left", frameon=False, borderpad=0, borderaxespad=0, fontsize=NAME, handlelength=2.4,
                  handleheight=1.1, columnspacing=1.4, labelcolor=INK,
                  bbox_to_anchor=(MARGIN / WIDTH, (total - page.head - 0.08) / total))
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load_all))
