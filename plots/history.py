#!/usr/bin/python3
"""Figure: what each version of an allocator does at which size, and which version changed that.

RESULTS is the file of `zerotax history --json`, or the folder of its --out.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from zerotax_plots import main
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from thresholds_map import LOOKS
from zerotax_plots.axes import size_span_axis
from zerotax_plots.documents import document_of, load_document, notes_of, title_of
from zerotax_plots.files import NothingToDraw, ResultsError
from zerotax_plots.labels import text_width, wrap
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.style import FAINT, INK

FIGURE = "history"
FILE, SCHEMA = "history.json", "zerotax.history/1"
REMEDY = "run `zerotax history --json history.json`"
LEGEND_NOTE = ("Colour: what calloc does after a block of that size has been freed, with nothing touched. "
               "Bold, with an arrow: a version that changed something.")
PITCH, BAR, LINE_PITCH = 0.26, 0.17, 0.145   # inches: a row, its bar, a line of the sentence below it
NAME, SMALL = 9.5, 8.0                       # points
LEGEND, AXIS = 0.62, 0.72                    # inches
MOST_LINES = 2
# A size that was measured alone, without its neighbours: its bar is this part of an octave.
ALONE = 2 ** 0.2


class Row(NamedTuple):
    """A version: its pieces (first size, first size beyond, word), and what is said of it."""

    name: str
    date: str
    changed: bool
    pieces: list[tuple[float, float, str]]
    words: list[str]   # below its bar, or in its place


def _words(version: dict[str, Any], room: float) -> list[str]:
    """What is said below the bar of a version that changed something, or in place of a bar."""
    if not version["changed"] and "pieces" in version:
        return []
    lines = wrap(version["sentence"], room, SMALL)
    if len(lines) > MOST_LINES:
        lines = lines[:MOST_LINES]
        lines[-1] = lines[-1].rsplit(" ", 1)[0] + " …"
    return lines


def _row(version: dict[str, Any], room: float) -> Row:
    pieces = []
    for piece in version.get("pieces", []):
        low, high = float(piece["from_bytes"]), float(piece["to_bytes"]) + 1
        if piece["from_bytes"] == piece["to_bytes"]:
            low, high = low / ALONE, low * ALONE
        pieces.append((low, high, piece["word"]))
    return Row(version["name"], version["date"][:10], version["changed"], pieces, _words(version, room))


def draw(results: Results) -> Figure:
    """The figure: a bar for each version, oldest first, over size in bytes on a log axis."""
    document = document_of(results, FILE, SCHEMA, REMEDY)
    try:
        head = Results(results.source, {key: document[key] for key in ("started", "zerotax_version", "environment")}, [])
        names = [f"{version['name']}  {version['date'][:10]}" for version in document["versions"]]
        left = MARGIN + max(text_width(name, NAME, bold=True) for name in names) + 0.35
        width = WIDTH - left - MARGIN - 0.2
        rows = [_row(version, width) for version in document["versions"]]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ResultsError(f"{results.source}: does not match its schema ({error}); {REMEDY} again") from error
    if not any(row.pieces for row in rows):
        raise NothingToDraw(f"{results.source}: no version was measured; {REMEDY} with versions that build")
    page = Layout(title_of(document, "What each version does"), head, [LEGEND_NOTE, *notes_of(document)])
    return _draw(rows, document["words"], page, left, width)


def _draw(rows: list[Row], words: dict[str, str], page: Layout, left: float, width: float) -> Figure:
    tops = [0.0]
    for row in rows:
        below = len(row.words) if row.pieces else max(0, len(row.words) - 1)
        tops.append(tops[-1] + PITCH + below * LINE_PITCH)
    height = tops[-1] + 0.05
    figure = page.figure(LEGEND + height + AXIS)
    total = figure.get_figheight()
    axes = figure.add_axes((left / WIDTH, (page.foot + AXIS) / total, width / WIDTH, height / total))
    size_span_axis(axes, min(piece[0] for row in rows for piece in row.pieces),
                   max(piece[1] for row in rows for piece in row.pieces))
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    for row, top in zip(rows, tops):
        _draw_row(axes, row, top, (MARGIN - left) / width)
    used = {word for row in rows for _, _, word in row.pieces}
    figure.legend(handles=[Patch(facecolor=look.colour, edgecolor=look.ink, hatch=look.hatch, linewidth=0.6,
                                 label=words.get(word, word)) for word, look in LOOKS.items() if word in used],
                  ncol=4, loc="upper left", frameon=False, borderpad=0, borderaxespad=0, fontsize=9.5, handlelength=2.4,
                  handleheight=1.1, columnspacing=1.4, labelcolor=INK,
                  bbox_to_anchor=(MARGIN / WIDTH, (total - page.head - 0.08) / total))
    return figure


def _draw_row(axes: Axes, row: Row, top: float, left: float) -> None:
    """`left`: where names begin, as a part of the width of the axes."""
    middle = top + PITCH / 2
    side = axes.get_yaxis_transform()
    axes.text(left, middle, row.name + ("  ▸" if row.changed else ""), transform=side, fontsize=NAME,
              weight="bold" if row.changed else "normal", va="center_baseline", color=INK)
    axes.text(-0.01, middle, row.date, transform=side, fontsize=SMALL, ha="right", va="center_baseline", color=FAINT)
    for low, high, word in row.pieces:
        look = LOOKS.get(word, LOOKS["unknown"])
        axes.barh(middle, high - low, left=low, height=BAR, facecolor=look.colour, edgecolor=look.ink, hatch=look.hatch,
                  linewidth=0, zorder=2)
        axes.plot([low, high, high, low, low], [middle - BAR / 2] * 2 + [middle + BAR / 2] * 2 + [middle - BAR / 2],
                  color="#666666", linewidth=0.5, zorder=3, clip_on=False)
    first = top + PITCH - 0.02 if row.pieces else middle - SMALL / 144
    for number, line in enumerate(row.words):
        axes.text(0, first + number * LINE_PITCH, line, transform=side, fontsize=SMALL, va="top",
                  color=INK if row.pieces else FAINT, zorder=6,
                  bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"})


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=lambda path: load_document(path, FILE, SCHEMA, REMEDY)))
