#!/usr/bin/python3
"""Figure: the behavior of each allocator by size, and the sizes at which the behavior changes.

RESULTS is a results folder with a thresholds.json, or the file of `zerotax thresholds --json`.
"""

from __future__ import annotations

import math
import sys
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from zerotax_plots import main
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from zerotax_plots.axes import size_span_axis
from zerotax_plots.documents import notes_of, read_document, title_of
from zerotax_plots.files import ResultsError
from zerotax_plots.labels import LINE, text_width, wrap
from zerotax_plots.lanes import UNKNOWN, Lane, Tick, lanes_of, words_of
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.looks import order
from zerotax_plots.results import REMEDY, Results, load
from zerotax_plots.style import INK
from zerotax_plots.units import count_text, size_text

FIGURE = "thresholds_map"
FILE = "thresholds.json"
SCHEMA = "zerotax.thresholds/1"
# Explains the parts of a bar.
LEGEND_NOTE = ("Colour: what calloc does after a block of that size has been freed. Long mark: from this size on, this, "
               "its system calls or the place of the block change; short mark: only those of the first calloc of a process.")


class Look(NamedTuple):
    """The filling of a piece of a bar. Lightness and hatching differ, for gray print."""

    colour: str
    hatch: str
    ink: str


LOOKS = {   # by the word that zerotax writes for a piece
    "no_zeros_back": Look("#E3F1FA", "", INK),
    "no_zeros_kept": Look("#A9D3EE", "....", "#2F6F8F"),
    "dirty": Look("#F7C65B", "/////", "#9A6A00"),
    "needless": Look("#A9371F", "", INK),
    UNKNOWN: Look("#FFFFFF", "xxx", "#9A9A9A"),
}
PITCH, BAR = 0.27, 0.185      # inches: distance between lanes, height of a bar
GROUP_GAP = 0.13              # gap between allocators in inches
BELOW, ABOVE = 0.72, 0.62     # inches: height of the axis labels, height of the legend
LABEL, NAME = 8.0, 10.5       # points
MOST_NAME = 1.7               # width of the name of an allocator in inches


def read(path: Path) -> dict[str, Any]:
    """Returns the object of a thresholds file. Raises ResultsError if it cannot be drawn."""
    return read_document(path, SCHEMA, "draw it with the plots of the zerotax version that wrote it")


def load_thresholds(source: Path) -> Results:
    """Loads a folder with `load`, or the head of the file of `zerotax thresholds --json`."""
    if source.is_dir() or not source.exists():
        return load(source)
    return Results(source, read(source), [])


def _head(document: dict[str, Any], results: Results) -> Results:
    """Returns the facts for the subtitle."""
    names: dict[str, dict[str, Any]] = {
        lane["allocator"]: {"name": lane["allocator"], "version": lane["version"]}
        for lane in document["lanes"]}
    run = {key: document[key] for key in ("started", "zerotax_version") if key in document}
    run["environment"] = document["environment"]
    run["allocators"] = [names[name] for name in sorted(names, key=order)]
    return Results(results.source, run, [])


def draw(results: Results) -> Figure:
    """Draws the figure: a bar for each allocator and touch over size in bytes, on a log axis."""
    path = results.source
    if results.run.get("schema") != SCHEMA:
        path = path.parent / FILE
        if not path.exists():
            raise main.NothingToDraw(
                f"{path}: no such file; run `zerotax thresholds --json {path}`")
    document = read(path)
    try:
        lanes = lanes_of(document)
        head = _head(document, results)
    except (KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{path}: does not match its schema ({error}); {REMEDY}") from error
    if not lanes:
        raise ResultsError(f"{path}: no lane was searched to its end; search again")
    page = Layout(title_of(document, "What calloc does, by size"), head,
                  [LEGEND_NOTE, *notes_of(document)])
    return _draw(lanes, words_of(document), page)


def _places(lanes: list[Lane], names: dict[str, list[str]]) -> tuple[list[float], float]:
    """Returns the inches from the top to the middle of each lane, and the total height. If an allocator's name takes
    more lines than the allocator has lanes, the allocator gets more height.
    """
    places: list[float] = []
    top = GROUP_GAP / 2
    for allocator, group in groupby(lanes, key=lambda lane: lane.allocator):
        count = len(list(group))
        places += [top + (n + 0.5) * PITCH for n in range(count)]
        top += max(count * PITCH, len(names[allocator]) * NAME * LINE / 72) + GROUP_GAP
    return places, top - GROUP_GAP / 2


def _draw(lanes: list[Lane], words: dict[str, str], page: Layout) -> Figure:
    names = {lane.allocator: wrap(lane.name, MOST_NAME, NAME, bold=True) for lane in lanes}
    places, height = _places(lanes, names)
    figure = page.figure(ABOVE + height + BELOW)
    total = figure.get_figheight()
    name_room = max(text_width(line, NAME, bold=True) for lines in names.values() for line in lines)
    lane_room = max(text_width(lane.label(), LABEL + 1) for lane in lanes)
    left = MARGIN + name_room + 0.2 + lane_room + 0.12
    width = WIDTH - left - MARGIN - 0.2
    axes = figure.add_axes((left / WIDTH, (page.foot + BELOW) / total, width / WIDTH,
                            height / total))
    size_span_axis(axes, min(lane.pieces[0][0] for lane in lanes), max(lane.pieces[-1][1] - 1 for lane in lanes))
    axes.set_ylim(height, 0)
    axes.set_yticks(places, [lane.label() for lane in lanes], fontsize=LABEL + 1)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    before = None
    for lane, place in zip(lanes, places):
        if lane.allocator != before:
            axes.text((MARGIN - left) / width, place, "\n".join(names[lane.allocator]),
                      transform=axes.get_yaxis_transform(), fontsize=NAME, weight="bold",
                      va="top" if len(names[lane.allocator]) > 1 else "center_baseline")
            if before is not None:
                axes.plot([(MARGIN - left) / width, 1], [place - (PITCH + GROUP_GAP) / 2] * 2,
                          transform=axes.get_yaxis_transform(), color="#BBBBBB", linewidth=0.6,
                          clip_on=False, zorder=1)
        before = lane.allocator
        _bar(axes, lane, place, width)
    _legend(figure, lanes, words, total - page.head - 0.08)
    return figure


def _bar(axes: Axes, lane: Lane, y: float, width: float) -> None:
    top, bottom = y - BAR / 2, y + BAR / 2
    for low, high, kind in lane.pieces:
        look = LOOKS[kind]
        axes.barh(y, high - low, left=low, height=BAR, facecolor=look.colour, edgecolor=look.ink,
                  hatch=look.hatch, linewidth=0, zorder=2)
    first, last = lane.pieces[0][0], lane.pieces[-1][1]
    axes.plot([first, last, last, first, first], [top, top, bottom, bottom, top], color="#666666",
              linewidth=0.6, zorder=3, clip_on=False, solid_joinstyle="miter")
    for tick in lane.ticks:
        reach = 0.038 if tick.steady else -BAR * 0.55
        axes.plot([tick.at, tick.at], [top - reach, bottom + 0.038], color=INK,
                  linewidth=1.4 if tick.steady else 0.9,
                  linestyle=(0, (2, 1)) if tick.doubtful else "-", zorder=5, solid_capstyle="butt")
    for tick, text, side in _labels(axes, lane, width):
        axes.annotate(text, (tick.at, y), xytext=(3.2 * side, 0), textcoords="offset points",
                      ha="left" if side > 0 else "right", va="center_baseline", fontsize=LABEL,
                      zorder=6, bbox={"boxstyle": "square,pad=0.12", "facecolor": "white",
                                      "edgecolor": "none"})


def _labels(axes: Axes, lane: Lane, width: float) -> list[tuple[Tick, str, int]]:
    """Returns the marks that have enough space for their size beside them, with the text and its side (1: right). Marks
    of changes in every calloc are placed first. The text is the size in bytes if that fits, otherwise the rounded size.
    """
    low, high = (math.log2(limit) for limit in axes.get_xlim())

    def inches(size: float) -> float:
        return (math.log2(size) - low) / (high - low) * width

    taken = [(-1.0, inches(lane.pieces[0][0])), (inches(lane.pieces[-1][1]), width + 1.0)]
    taken += [(inches(tick.at),) * 2 for tick in lane.ticks]
    found = []
    for tick in sorted(lane.ticks, key=lambda tick: (not tick.steady, tick.at)):
        at = inches(tick.at)
        choices = [(text, side) for text in (count_text(tick.at), size_text(tick.at))
                   for side in (1, -1)]
        for text, side in choices:
            need = text_width(text, LABEL) + 0.1
            begin, end = (at + 0.005, at + need) if side > 0 else (at - need, at - 0.005)
            if all(end <= a or b <= begin for a, b in taken):
                taken.append((begin, end))
                found.append((tick, text, side))
                break
    return found


def _legend(figure: Figure, lanes: list[Lane], words: dict[str, str], top: float) -> None:
    used = {kind for lane in lanes for _, _, kind in lane.pieces}
    handles: list[Any] = [Patch(facecolor=look.colour, edgecolor=look.ink, hatch=look.hatch,
                                linewidth=0.6, label=words.get(kind, kind))
                          for kind, look in LOOKS.items() if kind in used]
    marks = {tick.steady for lane in lanes for tick in lane.ticks}
    for steady, text in ((True, "changes here"), (False, "first calloc alone changes")):
        if steady in marks:
            handles.append(Line2D([], [], color=INK, marker="|", linestyle="none", label=text,
                                  markersize=12 if steady else 6,
                                  markeredgewidth=1.4 if steady else 0.9))
    figure.legend(handles=handles, ncol=4, loc="upper left", frameon=False, borderpad=0,
                  borderaxespad=0, fontsize=9.5, handlelength=2.4, handleheight=1.1,
                  columnspacing=1.4, labelcolor=INK,
                  bbox_to_anchor=(MARGIN / WIDTH, top / figure.get_figheight()))


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load_thresholds))
