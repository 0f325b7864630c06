#!/usr/bin/python3
"""Figure: the behavior of each version of an allocator by size, or the costs of a program, and the changed versions.

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
from zerotax_plots.histories import FILE, REMEDY, SCHEMA
from zerotax_plots.labels import text_width, wrap
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.style import FAINT, INK
from zerotax_plots.units import count_text, size_text

FIGURE = "history"
LEGEND_NOTE = ("Colour: what calloc does after a block of that size has been freed, with nothing touched. "
               "Bold, with an arrow: a version that changed something.")
# inches: height of a row, of its bar, and of a line of the sentence below the bar
PITCH, BAR, LINE_PITCH = 0.26, 0.17, 0.145
NAME, SMALL = 9.5, 8.0                       # points
LEGEND, AXIS = 0.62, 0.72                    # inches
HEADS = 0.3                                  # height of the column headings in inches
PROGRAM_NOTE = ("Bars: the highest of the version's runs, of the command as a whole. Bold, with an arrow: a version that changed "
                "something.")
COST_COLOUR = "#3B8FC7"
COSTS = ("minor_faults", "kernel_zeroed_bytes", "zeroed_bytes", "peak_bytes")
MOST_LINES = 2
# Factor between the ends of a bar for a size that was measured without its neighbors.
ALONE = 2 ** 0.2


class Row(NamedTuple):
    """A version: its pieces (first size, first size beyond, word), and its sentence."""

    name: str
    date: str
    changed: bool
    pieces: list[tuple[float, float, str]]
    words: list[str]   # below the bar, or in place of a missing bar
    costs: list[float | None]   # values of a program, in the order of COSTS

    @property
    def measured(self) -> bool:
        """Returns whether the version has a bar."""
        return bool(self.pieces or self.costs)


def _words(version: dict[str, Any], room: float) -> list[str]:
    """Returns the lines of text of a version: below its bar if it changed something, or in place of a missing bar."""
    if not version["changed"] and version["state"] == "measured":
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
    metrics = version.get("program", {}).get("metrics", {})
    costs = [float(metrics[key]["high"]) if "high" in metrics[key] else None for key in COSTS] if metrics else []
    return Row(version["name"], version["date"][:10], version["changed"], pieces, _words(version, room), costs)


def draw(results: Results) -> Figure:
    """Draws the figure: a bar for each version, oldest first, over size in bytes on a log axis."""
    document = document_of(results, FILE, SCHEMA, REMEDY)
    try:
        head = Results(results.source, {key: document[key] for key in ("started", "zerotax_version", "environment")}, [])
        names = [f"{version['name']}  {version['date'][:10]}" for version in document["versions"]]
        left = MARGIN + max(text_width(name, NAME, bold=True) for name in names) + 0.35
        width = WIDTH - left - MARGIN - 0.2
        rows = [_row(version, width) for version in document["versions"]]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ResultsError(f"{results.source}: does not match its schema ({error}); {REMEDY} again") from error
    if not any(row.measured for row in rows):
        raise NothingToDraw(f"{results.source}: no version was measured; {REMEDY} with versions that build")
    of_program = "program" in document
    page = Layout(title_of(document, "What each version does"), head,
                  [PROGRAM_NOTE if of_program else LEGEND_NOTE, *notes_of(document)])
    return (_draw_program if of_program else _draw)(rows, document["words"], page, left, width)


def _tops(rows: list[Row]) -> list[float]:
    """Returns where each row begins and the last row ends, in inches."""
    tops = [0.0]
    for row in rows:
        below = len(row.words) if row.measured else max(0, len(row.words) - 1)
        tops.append(tops[-1] + PITCH + below * LINE_PITCH)
    return tops


def _draw_program(rows: list[Row], words: dict[str, str], page: Layout, left: float, width: float) -> Figure:
    tops = _tops(rows)
    height = tops[-1] + 0.05
    figure = page.figure(HEADS + height)
    total = figure.get_figheight()
    room = width / len(COSTS)
    for column, key in enumerate(COSTS):
        axes = figure.add_axes(((left + column * room) / WIDTH, page.foot / total, room / WIDTH, height / total))
        most = max((row.costs[column] or 0.0 for row in rows if row.costs), default=0.0)
        # Leaves room for the numbers to the right of the bars.
        axes.set_xlim(0, (most or 1.0) * 1.9)
        axes.set_ylim(height, 0)
        axes.axis("off")
        axes.text(0, 1.0 + 0.06 / height, words[key], transform=axes.transAxes, fontsize=SMALL, color=INK, va="bottom")
        for row, top in zip(rows, tops):
            if not row.costs:
                continue
            value = row.costs[column]
            axes.barh(top + PITCH / 2, value or 0.0, height=BAR, facecolor=COST_COLOUR, edgecolor=INK, linewidth=0.4)
            shown = "n/a" if value is None else size_text(value) if key.endswith("_bytes") else count_text(value)
            axes.text((value or 0.0) + (most or 1.0) * 0.03, top + PITCH / 2, shown, fontsize=SMALL, va="center_baseline",
                      color=INK)
    names = figure.add_axes((left / WIDTH, page.foot / total, width / WIDTH, height / total))
    names.set_ylim(height, 0)
    names.axis("off")
    names.patch.set_alpha(0)
    for row, top in zip(rows, tops):
        _draw_row(names, row, top, (MARGIN - left) / width)
    return figure


def _draw(rows: list[Row], words: dict[str, str], page: Layout, left: float, width: float) -> Figure:
    tops = _tops(rows)
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
    """Draws a row. `left` is the position at which names begin, as a fraction of the axes' width."""
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
    first = top + PITCH - 0.02 if row.measured else middle - SMALL / 144
    for number, line in enumerate(row.words):
        axes.text(0, first + number * LINE_PITCH, line, transform=side, fontsize=SMALL, va="top",
                  color=INK if row.measured else FAINT, zorder=6,
                  bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"})


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=lambda path: load_document(path, FILE, SCHEMA, REMEDY)))
