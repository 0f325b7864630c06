#!/usr/bin/python3
"""Figure: the parts of fork's time, beside CASPER's table, and its growth with populated memory.

RESULTS is the file of `zerotax fork --json`, or a folder with a fork.json.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from zerotax_plots import main
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from zerotax_plots.axes import size_axis, time_axis
from zerotax_plots.documents import document_of, load_document, notes_of
from zerotax_plots.fork import FILE, LOOKS, SCHEMA, bars, line, places, private_pages, title
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.style import FAINT, INK
from zerotax_plots.units import time_text, whole_percent_text

FIGURE = "fork"
LEFT, BETWEEN, HEIGHT, HEADING, BELOW = 1.0, 1.25, 4.4, 0.38, 0.95   # inches
# Explains the parts of a bar.
LEGEND_NOTE = ("Search: process number. uballoc: task, kernel stack, address space. setuctxt: registers and FPU. procdup "
               "loop: mappings and page tables. Miscellaneous: descriptors, directory, rights, scheduling and the rest. "
               "Grey: others who watch forks, not in the paper.")
KINDS = {"private": ("#0063A2", "o"), "huge": ("#C85300", "^")}


def load(source: str | Path) -> Results:
    """Loads the document of `zerotax fork`, as a run without points."""
    return load_document(source, FILE, SCHEMA, "give the file of `zerotax fork --json FILE`")


def found(results: Results) -> dict[str, Any]:
    """Returns the document that was loaded, or the one in the folder of a run."""
    return document_of(results, FILE, SCHEMA, "write one with `zerotax fork --json fork.json`")


def has_one_section(shares: dict[str, float]) -> bool:
    """Returns whether a single part makes up the whole bar, to the percent. A bar with one part shows nothing beyond
    the part's name.
    """
    return whole_percent_text(max(shares.values())) == whole_percent_text(1)


def of_one_section(document: dict[str, Any]) -> list[str]:
    """Returns the footnote that replaces bars with a single part."""
    words = [f"{name.replace(chr(10), ', ')}: {max(shares, key=lambda section: shares[section])}"
             for name, shares in bars(document) if has_one_section(shares)]
    return [f"All of it in one section, and so without a bar: {'; '.join(words)}."] if words else []


def sections(axes: Axes, document: dict[str, Any]) -> None:
    """Draws stacked bars of shares. Each part has its name and share if there is room."""
    every = [bar for bar in bars(document) if not has_one_section(bar[1])]
    for x, (_, shares) in enumerate(every):
        bottom = 0.0
        for name, (colour, hatch) in LOOKS.items():
            share = shares.get(name, 0.0)
            axes.bar(x, share, 0.72, bottom, color=colour, hatch=hatch, edgecolor="white", linewidth=0.8)
            if share >= 0.045:
                axes.text(x, bottom + share / 2, whole_percent_text(share), ha="center", va="center", fontsize=9,
                          bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.82, "pad": 1.2})
            bottom += share
    axes.set_xticks(range(len(every)), [name for name, _ in every], fontsize=9)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], [whole_percent_text(share) for share in (0, 0.25, 0.5, 0.75, 1)])
    axes.set_ylim(0, 1)
    axes.set_xlabel("process that forks, and how long that takes")
    axes.set_ylabel("share of fork")
    axes.set_title("by the paper's sections", loc="left", fontsize=11, pad=7)


def growth(axes: Axes, document: dict[str, Any]) -> None:
    """Draws the time of fork against populated memory: fitted points, held-out points, and the model's line."""
    axes.grid(True)
    of = {kind: places(document, kind) for kind in KINDS}
    everything = [place for every in of.values() for place in every]
    if not everything:
        axes.text(0.5, 0.5, f"n/a: {document['model'].get('na', 'not swept')}", transform=axes.transAxes,
                  ha="center", color=FAINT)
        return
    for kind, every in of.items():
        if not every:
            continue
        colour, marker = KINDS[kind]
        name = private_pages(document) if kind == "private" else "huge pages"
        sizes = [size for size, _, _ in every]
        steps = [min(sizes) * (max(sizes) / min(sizes)) ** (k / 64) for k in range(65)]
        if model := line(document, kind):
            axes.plot(steps, [model[0] + model[1] * size for size in steps], color=colour, linewidth=1.2,
                      label=f"{name}: model")
        for held, face, word in ((False, colour, "fitted"), (True, "white", "held back")):
            shown = [(size, ns) for size, ns, back in every if back == held]
            if shown:
                axes.plot(*zip(*shown), linestyle="", marker=marker, markersize=7, color=colour,
                          markerfacecolor=face, label=f"{name}: {word}")
        last_size, last_ns, _ = every[-1]
        axes.annotate(f"{name}\n{time_text(last_ns)}", (last_size, last_ns), xytext=(-8, 5), textcoords="offset points",
                      ha="right", va="bottom", fontsize=9, color=colour)
    size_axis(axes, sorted({size for size, _, _ in everything}), 9)
    low, high = min(ns for _, ns, _ in everything), max(ns for _, ns, _ in everything)
    time_axis(axes, low / 1.6, high * 4)
    axes.set_xlabel("populated memory")
    axes.set_ylabel("time of fork")
    axes.set_title("by populated memory", loc="left", fontsize=11, pad=7)
    axes.legend(loc="upper left", fontsize=8.5, frameon=False)


def draw(results: Results) -> Figure:
    """Draws the figure: sections as stacked bars, and the time of fork against populated memory."""
    document = found(results)
    page = Layout(title(document), Results(results.source, document, []),
                  [LEGEND_NOTE, *of_one_section(document), *notes_of(document)])
    legend = 0.3
    figure = page.figure(HEADING + HEIGHT + BELOW + legend)
    total = figure.get_figheight()
    width = (WIDTH - LEFT - BETWEEN - 2 * MARGIN) / 2
    bottom = (page.foot + legend + BELOW) / total
    left = figure.add_axes((LEFT / WIDTH, bottom, width / WIDTH, HEIGHT / total))
    right = figure.add_axes(((LEFT + width + BETWEEN) / WIDTH, bottom, width / WIDTH, HEIGHT / total))
    sections(left, document)
    growth(right, document)
    handles = [left.patches[i] for i in range(len(LOOKS))]
    figure.legend(handles, [name if name != "-" else "not in the paper" for name in LOOKS], ncol=len(LOOKS),
                  loc="upper left", frameon=False, fontsize=9, columnspacing=1.2, handlelength=1.6,
                  bbox_to_anchor=(MARGIN / WIDTH, (page.foot + legend) / total), labelcolor=INK)
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=load))
