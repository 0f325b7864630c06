#!/usr/bin/python3
"""Figure: copies, reuses and zero-fills over time, of a parent and its descendants.

RESULTS is the file of `zerotax cow --json`, or a folder with a cow.json.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from zerotax_plots import main
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from zerotax_plots.axes import zero_axis
from zerotax_plots.cow import FILE, SCHEMA, SIDES, copying_ended, counts, resident, shared, title
from zerotax_plots.documents import document_of, load_document, notes_of
from zerotax_plots.files import ResultsError
from zerotax_plots.labels import LineEnd, end_labels
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.style import FAINT
from zerotax_plots.units import tick_size_text

FIGURE = "cow"
LEFT, RIGHT, PANEL, HEADING, BELOW = 1.1, 1.15, 1.75, 0.42, 0.55   # inches
GAP = 0.12
ROOM_FOR_ZERO = 0.62   # share of the band of zeros over which coinciding lines are spread


class Kind(NamedTuple):
    """A class of faults and its line. Lines differ in hue, lightness and dashes."""

    key: str
    name: str
    colour: str
    dash: Any


KINDS = (Kind("copies", "copies", "#A9371F", "-"),
         Kind("reuses", "reuses", "#0063A2", (0, (5, 1.6))),
         Kind("zero_fills", "zero-fills", "#56A86B", (0, (1.6, 1.2))))


def load(source: str | Path) -> Results:
    """Loads the file of `zerotax cow --json`, or the cow.json of a folder, as a run without points."""
    results = load_document(source, FILE, SCHEMA, "give the file of `zerotax cow --json FILE`")
    if not results.run.get("intervals"):
        raise ResultsError(f"{results.source}: contains no intervals; watch a program that runs for longer")
    return results


def found(results: Results) -> dict[str, Any]:
    """Returns the document that was loaded, or the one in the folder of a run."""
    return document_of(results, FILE, SCHEMA, "write one with `zerotax cow --json cow.json -- PROGRAM`")


def steps(values: list[Any]) -> list[Any]:
    """Returns the value at the start of each interval. The last value is repeated, for the end of the last interval."""
    return [*values, values[-1]]


def draw(results: Results) -> Figure:
    """Draws the figure: a panel for the parent, one for the children if there are any, and one for memory."""
    document = found(results)
    intervals = document["intervals"]
    sides = [child for child in SIDES
             if any(process["child"] == child for i in intervals for process in i["processes"])]
    edges = [interval["from_s"] for interval in intervals] + [intervals[-1]["to_s"]]
    page = Layout(title(document), Results(results.source, document, []), notes_of(document))
    panels = len(sides) + 1
    figure = page.figure(panels * (HEADING + PANEL) + (panels - 1) * GAP + BELOW)
    height = figure.get_figheight()
    values = {(child, kind.key): counts(intervals, child, kind.key) for child in sides for kind in KINDS}
    everything = [float(value) for of in values.values() for value in of]

    def panel(number: int, heading: str) -> Axes:
        top = page.head + (number + 1) * (HEADING + PANEL) + number * GAP
        axes = figure.add_axes((LEFT / WIDTH, 1 - top / height, (WIDTH - LEFT - RIGHT - MARGIN) / WIDTH,
                                PANEL / height))
        axes.grid(True)
        axes.set_xlim(edges[0], max(edges[-1], edges[0] + 0.001))
        axes.set_title(heading, loc="left", fontsize=11, pad=7)
        axes.tick_params(labelbottom=number == panels - 1)
        axes.set_ylabel("page faults" if number < panels - 1 else "memory")
        axes.yaxis.set_label_coords(-(LEFT - 0.25) / (WIDTH - LEFT - RIGHT - MARGIN), 0.5)
        return axes

    for number, child in enumerate(sides):
        axes = panel(number, f"page faults of {SIDES[child]}, per interval" if len(sides) > 1
                     else "page faults per interval")
        unit = zero_axis(axes, everything, 10)
        ends = []
        for place, kind in enumerate(KINDS):
            at_zero = (place - 1) * ROOM_FOR_ZERO * unit / 2
            shown = [value if value else at_zero for value in values[child, kind.key]]
            axes.plot(edges, steps(shown), drawstyle="steps-post", color=kind.colour, linestyle=kind.dash,
                      linewidth=1.8, label=kind.name)
            ends.append(LineEnd(edges[-1], shown[-1], kind.name, {"color": kind.colour, "marker": "s"}))
        axes.legend(ncol=len(KINDS), loc="lower right", bbox_to_anchor=(1, 1), frameon=False, fontsize=10,
                    borderpad=0, borderaxespad=0.5, handlelength=2.6)
        end_labels(axes, ends, RIGHT, PANEL)
    memory_panel(panel(panels - 1, "resident memory at the end of each interval"), intervals, sides)
    if (end := copying_ended(document)) is not None:
        for axes in figure.axes[-2:]:
            axes.axvline(end, color=FAINT, linewidth=1, linestyle=(0, (2, 2)), zorder=1)
        figure.axes[-2].annotate("nearly all copied", (end, 1), xycoords=("data", "axes fraction"), xytext=(4, -4),
                                 textcoords="offset points", va="top", fontsize=9, color=FAINT)
    return figure


def memory_panel(axes: Axes, intervals: list[dict[str, Any]], sides: list[bool]) -> None:
    """Draws the resident memory of both sides, and the part that the children share, from zero."""
    most = 0.0
    still = [(interval["to_s"], size) for interval, size in zip(intervals, shared(intervals), strict=True)
             if size is not None]
    if still:
        axes.plot(*zip(*still, strict=True), marker="^", markersize=3.2, linewidth=1.4, color="#8A5FA8",
                  linestyle=(0, (1.6, 1.2)), label="shared by the children")
    for child in sides:
        sizes = resident(intervals, child)
        most = max([most, *[size for size in sizes if size is not None]])
        axes.plot([interval["to_s"] for interval in intervals],
                  [float("nan") if size is None else size for size in sizes], marker="s" if child else "o",
                  markersize=3.2, linewidth=1.4, color="#6B6B6B" if child else "#000000",
                  linestyle=(0, (5, 1.6)) if child else "-", label=SIDES[child].removeprefix("the "))
    axes.set_ylim(0, (most or 1) * 1.15)
    step = 2.0 ** max(0, (int(most) // 3).bit_length() - 1) if most else 1.0
    places = [step * n for n in range(int((most * 1.15) // step) + 1)]
    axes.set_yticks(places, [tick_size_text(place) if place else "0" for place in places])
    axes.set_xlabel("seconds since watching began")
    if len(sides) > 1:
        axes.legend(ncol=3, loc="lower right", bbox_to_anchor=(1, 1), frameon=False, fontsize=10, borderpad=0,
                    borderaxespad=0.5, handlelength=2.6)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load))
