#!/usr/bin/python3
"""Figure: CPU time of a program under the settings that nothing beats, over the memory at idle.

RESULTS is the file of `zerotax advise --frontier --json`.
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
from zerotax_plots.units import size_text, tick_size_text, tick_time_text, time_text

FIGURE = "frontier"
FILE = "advise.json"
SCHEMA = "zerotax.advise/1"
REMEDY = "give the file of `zerotax advise --frontier --json FILE`"
LEFT, HEIGHT, BELOW = 1.0, 3.6, 0.75   # inches
TODAY, KNEE, OTHER = "#6B6B6B", "#A9371F", "#0063A2"
TRIED = "#B8B8B8"


def load(source: str | Path) -> Results:
    """Loads the file of `zerotax advise --json`, or the advise.json of a folder, as a run without points."""
    return load_document(source, FILE, SCHEMA, REMEDY)


def memory_of(member: dict[str, Any]) -> float:
    """Returns the memory at idle, or the peak if the memory at idle is unknown."""
    idle = member["figures"].get("idle_bytes")
    return float(member["figures"]["peak_bytes"] if isinstance(idle, dict) or idle is None else idle)


def interval(member: dict[str, Any], key: str, value: float) -> tuple[float, float]:
    """Returns the distances from a value to the ends of its 95 % interval."""
    ratio = member.get("ratios", {}).get(key, {})
    if "low" not in ratio:
        return 0.0, 0.0
    return (value * max(0.0, 1 - ratio["low"] / ratio["median"]), value * max(0.0, ratio["high"] / ratio["median"] - 1))


def tried(document: dict[str, Any], today: dict[str, Any]) -> list[tuple[float, float]]:
    """Returns memory and CPU time of each setting that ran and is no member, from its ratios to the unchanged program."""
    members = {member["remedy"] for member in document["frontier"]["members"]}
    idle = "idle" if memory_of(today) == today["figures"].get("idle_bytes") else "memory"
    ratios = [each["ratios"] for each in document["remedies"] if each["name"] not in members]
    return [(memory_of(today) * each[idle]["median"], today["figures"]["cpu_s"] * 1e9 * each["cpu"]["median"])
            for each in ratios if "median" in each.get(idle, {}) and "median" in each["cpu"]]


def draw(results: Results) -> Figure:
    """Draws the figure: a point with intervals for each member. Both axes start at zero."""
    document = document_of(results, FILE, SCHEMA, REMEDY)
    found = document.get("frontier")
    if not found:
        raise NothingToDraw(f"{results.source}: contains no frontier; {REMEDY}")
    members = found["members"]
    [today] = [member for member in members if member["remedy"] is None]
    others = tried(document, today)
    notes = ["Bars are 95 % intervals of the ratio to the unchanged program. Small dots are settings of one to three runs.",
             found["rule"]]
    page = Layout(document["recommendation"]["sentence"].removesuffix("."), Results(results.source, document, []),
                  [note for note in notes if note])
    figure = page.figure(HEIGHT + BELOW)
    height = figure.get_figheight()
    axes = figure.add_axes((LEFT / WIDTH, (page.foot + BELOW) / height, (WIDTH - LEFT - MARGIN) / WIDTH,
                            (HEIGHT - 0.25) / height))
    axes.grid(True)
    most = max(memory_of(member) for member in members)
    slowest = max(float(member["figures"]["cpu_s"]) for member in members) * 1e9
    axes.scatter([x for x, _ in others], [y for _, y in others], s=14, color=TRIED, zorder=1)   # the axes clip some dots
    for member in members:
        x, y = memory_of(member), float(member["figures"]["cpu_s"]) * 1e9
        colour = TODAY if member["remedy"] is None else KNEE if member["knee"] else OTHER
        left, right = interval(member, "idle", x)
        low, high = interval(member, "cpu", y)
        axes.errorbar([x], [y], xerr=[[left], [right]], yerr=[[low], [high]], color=colour, linewidth=1.2, capsize=3,
                      marker="o" if member["remedy"] else "s", markersize=7)
        name = member["remedy"] or "today: unchanged"
        side = ("left", "center", "right", "right")[int(3 * x / most)]   # the text stays within the axes
        axes.annotate(f"{name} ({time_text(y)}, {size_text(x)})", (x, y), textcoords="offset points",
                      xytext=(0, 9 if member["remedy"] else -17),
                      fontsize=9, color=colour, ha=side)
    axes.set_xlim(0, most * 1.15)
    axes.set_ylim(0, slowest * 1.25)
    step = 2.0 ** max(0, int(most // 3).bit_length() - 1)
    places = [step * n for n in range(int(most * 1.15 // step) + 1)]
    axes.set_xticks(places, [tick_size_text(place) if place else "0" for place in places])
    axes.yaxis.set_major_formatter(lambda value, _: tick_time_text(value) if value else "0")
    mean = members[0]["figures"].get("idle_measure") == "mean"
    axes.set_xlabel("mean memory" if mean else "memory at idle")
    axes.set_ylabel("CPU time")
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load))
