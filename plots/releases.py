#!/usr/bin/python3
"""Figure: the behavior of calloc in each release of several allocators, at the sizes that were measured.

RESULTS is a folder with a folder for each allocator, made by `zerotax history --out`.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

from zerotax_plots import main
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from thresholds_map import LOOKS, UNKNOWN
from zerotax_plots.files import NothingToDraw
from zerotax_plots.histories import REMEDY, load_all, word_at
from zerotax_plots.labels import text_width
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.style import FAINT, INK
from zerotax_plots.units import size_text

FIGURE = "releases"
PITCH, BAR, GAP = 0.24, 0.2, 0.12   # inches: height of a row, height of its cells, gap between allocators
HEADS, LEGEND = 0.25, 0.27          # inches: height of the column headings, height of a line of the legend
COLUMNS = 3                         # number of columns of the legend
NAME, SMALL = 9.5, 8.5              # points
NOTE = "Colour: what calloc does after a block of that size has been freed, with nothing touched, on the main thread."


class Histories(NamedTuple):
    """The content of a folder of histories, and the texts of the figure."""

    documents: list[dict[str, Any]]
    sizes: list[int]
    words: dict[str, str]
    head: Results
    notes: list[str]


def histories_of(results: Results) -> Histories:
    """Returns the histories to draw. Raises NothingToDraw if no version was measured."""
    if "histories" not in results.run:
        raise NothingToDraw("only a folder of histories can be drawn")
    documents = results.run["histories"]
    sizes = sorted({size for document in documents for size in document["grid"]["sizes"]})
    rows = [(document, version) for document in documents for version in document["versions"]]
    if not sizes or not any("pieces" in version for _, version in rows):
        raise NothingToDraw(f"{results.source}: no version was measured; {REMEDY} with --size")
    words = {key: text for document in documents for key, text in document["words"].items()}
    head = Results(results.source, {key: documents[0][key] for key in ("started", "zerotax_version", "environment")}, [])
    why = [f"{document['allocator']} {version['name']}: {version.get('reason', version['state_words'])}"
           for document, version in rows if "pieces" not in version]
    kernels = sorted({document["environment"]["kernel"] for document in documents})
    notes = [f"Measured with Linux {' and '.join(kernels)}."] if len(kernels) > 1 else []
    return Histories(documents, sizes, words, head, [NOTE, *notes, *([f"Not measured: {'; '.join(why)}."] if why else [])])


def used_words(shown: Histories) -> set[str]:
    """Returns the words that the legend explains."""
    return {word_at(version, size) or UNKNOWN for document in shown.documents for version in document["versions"]
            for size in shown.sizes}


def legend_height(shown: Histories) -> float:
    """Returns the height of the legend in inches."""
    return math.ceil(len(used_words(shown)) / COLUMNS) * LEGEND


def draw_legend(figure: Figure, page: Layout, shown: Histories) -> None:
    """Draws the legend below the head."""
    used = used_words(shown)
    figure.legend(handles=[Patch(facecolor=look.colour, edgecolor=look.ink, hatch=look.hatch, linewidth=0.6,
                                 label=shown.words.get(word, "not known")) for word, look in LOOKS.items() if word in used],
                  ncol=COLUMNS, loc="upper left", frameon=False, borderpad=0, borderaxespad=0, fontsize=NAME, handlelength=2.4,
                  handleheight=1.1, columnspacing=1.4, labelcolor=INK,
                  bbox_to_anchor=(MARGIN / WIDTH, (figure.get_figheight() - page.head - 0.08) / figure.get_figheight()))


def draw_cell(axes: Axes, word: str | None, corner: tuple[float, float], room: tuple[float, float]) -> None:
    """Draws a cell with the behavior of calloc. `corner` is its top left corner."""
    look = LOOKS.get(word or UNKNOWN, LOOKS[UNKNOWN])
    axes.add_patch(Rectangle(corner, *room, linewidth=0.5, facecolor=look.colour if word else "none", edgecolor=look.ink,
                             hatch=look.hatch))


def inches(figure: Figure, page: Layout, height: float) -> Axes:
    """Returns axes above the footnotes. The position is in inches from the left and top edges."""
    axes = figure.add_axes((0, (page.foot + 0.05) / figure.get_figheight(), 1, height / figure.get_figheight()))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    axes.axis("off")
    return axes


def draw(results: Results) -> Figure:
    """Draws the figure: a row for each version, oldest first, and a column for each size."""
    shown = histories_of(results)
    rows = [version for document in shown.documents for version in document["versions"]]
    page = Layout("What calloc does, release by release", shown.head, shown.notes)
    names = MARGIN + max(text_width(document["allocator"], NAME, bold=True) for document in shown.documents) + 0.15
    left = names + max(text_width(version["name"], NAME) for version in rows) + 0.95
    height = HEADS + len(rows) * PITCH + (len(shown.documents) - 1) * GAP
    figure = page.figure(legend_height(shown) + height + 0.05)
    axes = inches(figure, page, height)
    room = (WIDTH - MARGIN - left) / len(shown.sizes)
    for column, size in enumerate(shown.sizes):
        axes.text(left + (column + 0.5) * room, HEADS - 0.08, size_text(size), ha="center", fontsize=NAME, color=INK)
    top = HEADS
    for document in shown.documents:
        axes.text(MARGIN, top + PITCH / 2, document["allocator"], fontsize=NAME, weight="bold", va="center_baseline", color=INK)
        for version in document["versions"]:
            axes.text(names, top + PITCH / 2, version["name"], fontsize=NAME, va="center_baseline", color=INK)
            axes.text(left - 0.1, top + PITCH / 2, version["date"][:10], fontsize=SMALL, ha="right", va="center_baseline",
                      color=FAINT)
            for column, size in enumerate(shown.sizes):
                corner = (left + column * room + 0.02, top + (PITCH - BAR) / 2)
                draw_cell(axes, word_at(version, size), corner, (room - 0.04, BAR))
            top += PITCH
        top += GAP
    draw_legend(figure, page, shown)
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load_all))
