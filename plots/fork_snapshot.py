#!/usr/bin/python3
"""Figure: the cost of a snapshot with each alternative, and the parent's page faults over time.

RESULTS is the file of `zerotax snapshot --json`, or a results folder with a snapshot.json.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from zerotax_plots import main
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

from zerotax_plots.axes import time_axis
from zerotax_plots.documents import document_of, notes_of, read_document
from zerotax_plots.labels import LABEL_POINTS
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.looks import OTHERS, darker
from zerotax_plots.results import Results, load
from zerotax_plots.snapshot import FILE, LOOKS, SCHEMA, Mark, available, chosen, marks, title
from zerotax_plots.style import FAINT, INK
from zerotax_plots.units import number_text, plain_text, time_text

FIGURE = "fork_snapshot"
REMEDY = "run `zerotax snapshot --json snapshot.json`"
EARLIER = "written by an earlier version; add it by\n`zerotax snapshot --read FILE --json NEW`"
KINDS = {"copies": ("copied", "#A9371F", ""), "reuses": ("reused", "#A9D3EE", "///"),
         "others": ("other", "#DDDDDD", "")}
LEFT, GAP, HEADING, HEIGHT, BELOW, LEGEND_ROW = 0.92, 1.0, 0.36, 2.35, 0.62, 0.275   # inches
LEGEND_COLUMNS = 4
SLOWDOWNS = (1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000)


def load_snapshot(source: Path) -> Results:
    """Loads a folder with `load`, or the object in the file of `zerotax snapshot --json`."""
    if source.is_dir() or not source.exists():
        return load(source)
    return Results(source, read_document(source, SCHEMA, REMEDY), [])


def found(results: Results) -> dict[str, Any]:
    """Returns the snapshot's object: the whole file, or the folder's snapshot.json."""
    return document_of(results, FILE, SCHEMA, REMEDY)


def head(document: dict[str, Any], results: Results) -> Results:
    """Returns the facts for the subtitle."""
    run = {key: document[key] for key in ("started", "zerotax_version", "environment", "state")}
    first = document["results"][0]
    run["allocators"] = [{"name": first["allocator"], "version": first["version"]}]
    return Results(results.source, {**run, "state": None}, [])


def slowdown_axis(axes: Axes, of: list[Mark]) -> None:
    """Makes x a log axis of slow-down factors."""
    axes.set_xscale("log")
    axes.set_xlim(0.9, max(2.0, max(mark.slowdown for mark in of)) * 1.25)
    places = [place for place in SLOWDOWNS if place < axes.get_xlim()[1]]
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FixedFormatter([plain_text(place) for place in places]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("time the writers need, in times without a snapshot")
    axes.grid(True)


def scatter(axes: Axes, of: list[Mark], value: str) -> None:
    """Draws a mark for each alternative."""
    for mark in of:
        height = getattr(mark, value)
        if height is None:
            continue
        look = LOOKS.get(mark.name, OTHERS[-1])
        axes.plot([mark.slowdown], [height], marker=look.marker, color=look.colour, markersize=10,
                  markeredgecolor=darker(look.colour), linestyle="none", label=mark.name, zorder=3,
                  clip_on=False)


def not_available(axes: Axes, why: str) -> None:
    """Writes the reason why there are no marks."""
    axes.set_axis_off()
    axes.text(0, 0.8, f"n/a: {why}", transform=axes.transAxes, fontsize=LABEL_POINTS)


def faults(axes: Axes, result: dict[str, Any] | None, figure: str, heading: str) -> None:
    """Draws the parent's faults on the array, with a bar for each part of the run."""
    axes.set_title(heading, loc="left", fontsize=11, pad=7)
    axes.set_xlabel("milliseconds after the instant of the snapshot")
    found = result[figure] if result else {"na": "fork was not measured"}
    if not available(found):
        not_available(axes, found["na"][:70])
        return
    wide = found["timeline"]["bin_ns"] / 1e6
    bins = found["timeline"]["bins"]
    floor = [0] * len(bins)
    for kind, (label, colour, hatch) in KINDS.items():
        counts = [sum(v for k, v in each.items() if k not in KINDS) if kind == "others" else each[kind]
                  for each in bins]
        if kind == "others" and not any(counts):
            continue
        axes.bar([(n + 0.5) * wide for n in range(len(bins))], counts, wide, floor, label=label,
                 color=colour, hatch=hatch, edgecolor="#2F6F8F" if hatch else colour, linewidth=0.4)
        floor = [below + count for below, count in zip(floor, counts)]
    end = found["end_s"] * 1e3
    axes.axvline(end, color=INK, linestyle=(0, (4, 2)), linewidth=1.1)
    axes.set_ylim(0, max(1, *floor) * 1.14)   # space for text
    axes.set_xlim(0, max(len(bins) * wide, end * 1.05))
    late = end > axes.get_xlim()[1] * 0.6
    axes.text(end, 1.0, "the child ended " if late else " the child ended", va="top", fontsize=9,
              ha="right" if late else "left", color=FAINT, transform=axes.get_xaxis_transform())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: number_text(count)))
    axes.set_ylabel(f"faults in {plain_text(wide)} ms")


def draw(results: Results) -> Figure:
    """Draws the figure: slow-down against added memory and against the writers' stopped time, and faults over time."""
    document = found(results)
    of = marks(document)
    if not of and any("mark" in result for result in document["results"]):
        raise main.NothingToDraw(
            "no alternative other than none was measured; run `zerotax snapshot --json snapshot.json`")
    fork = next((r for r in chosen(document) if r["alternative"] == "fork" and r["status"] == "ok"), None)
    page = Layout(title(document), head(document, results), notes_of(document))
    legend = LEGEND_ROW * max(2, -(-len(of) // LEGEND_COLUMNS))
    figure = page.figure(2 * (HEADING + HEIGHT + BELOW) + legend)
    total = figure.get_figheight()
    width = (WIDTH - LEFT - GAP - 2.5 * MARGIN) / 2   # space for the last number of an axis

    def panel(row: int, column: int) -> Axes:
        bottom = page.foot + BELOW + (1 - row) * (HEADING + HEIGHT + BELOW + legend)
        return figure.add_axes(((LEFT + column * (width + GAP)) / WIDTH, bottom / total, width / WIDTH,
                                HEIGHT / total))

    memory, stopped = panel(0, 0), panel(0, 1)
    for axes, value, heading, words in ((memory, "share", "memory added", "in sizes of the array"),
                                        (stopped, "stopped_ns", "time that all writers stand still", "time, log scale")):
        axes.set_title(heading, loc="left", fontsize=11, pad=7)
        if of:
            axes.set_ylabel(words)
            slowdown_axis(axes, of)
            scatter(axes, of, value)
        else:
            not_available(axes, EARLIER)
    memory.set_ylim(-0.04, max([1.05, *(m.share * 1.1 for m in of if m.share is not None)]))
    if times := [mark.stopped_ns for mark in of]:
        time_axis(stopped, min(times) / 2, max(times) * 2)
    handles = []
    for mark in of:
        look = LOOKS.get(mark.name, OTHERS[-1])
        handles.append(Line2D([], [], marker=look.marker, color=look.colour, linestyle="none", markersize=8,
                              markeredgecolor=darker(look.colour),
                              label=f"{mark.name} ({time_text(mark.stopped_ns)})"))
    figure.legend(handles=handles, ncol=LEGEND_COLUMNS, loc="upper left", frameon=False, fontsize=LABEL_POINTS,
                  borderpad=0, borderaxespad=0, columnspacing=1.4,
                  bbox_to_anchor=(MARGIN / WIDTH, (page.foot + BELOW + HEIGHT + HEADING + legend) / total))
    before, after = panel(1, 0), panel(1, 1)
    faults(before, fork, "faults", "fork: the parent's faults")
    faults(after, fork, "faults_held", "the same, if the writers wait for the child's end")
    handles, names = before.get_legend_handles_labels()
    if handles:
        before.legend(handles, names, frameon=False, fontsize=9, loc="lower right", ncol=len(names),
                      bbox_to_anchor=(1.02, 0.99), borderpad=0.2, columnspacing=0.8, handlelength=1.2)
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load_snapshot))
