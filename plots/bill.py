#!/usr/bin/python3
"""Figure: the cost of zeroing in everyday programs, as a share of their CPU time by cause, and the effect of
largecache.
"""

from __future__ import annotations

import sys

from zerotax_plots import main, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from zerotax_plots.bill import FILE, SCHEMA
from zerotax_plots.documents import document_of, load_document
from zerotax_plots.files import NothingToDraw
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.units import number_text, percent_text, plain_text

FIGURE = "bill"
REMEDY = "run `docs/bill/bill.py --out DIR`"
LEFT, RIGHT, GAP, ROW, BELOW, LEGEND = 1.05, 2.6, 0.62, 0.2, 0.5, 0.75   # inches
# The causes in the order of the bars. Blue is the kernel, orange the allocator, green the program.
CAUSES = {
    "fresh": ("kernel: fresh memory", "#9CC4E4"), "refilled": ("kernel: refilled memory", "#2B6CA3"),
    "returning": ("kernel: returning it", "#12365A"), "redundant": ("allocator: redundant", "#C4500A"),
    "needed": ("allocator: needed", "#F2A35E"), "in_free": ("allocator: inside free", "#7A2E00"),
    "by_hand": ("program: malloc+memset", "#2F7D4F"), "by_program": ("program: other memset", "#A9D3B4"),
    "stores": ("stores of zeros, by samples", "#B8A23C"), "unseen": ("at most so much more", "#DDDDDD")}


def share(program: dict, cause: str) -> float:
    """Returns a cause's share of the CPU time. If only bounds are known, returns the lower bound; the rest belongs to
    `unseen`.
    """
    its = program["recorded"]
    if cause == "unseen":
        most, least = its["zeroing_at_most_cpu_ns"], its["zeroing_at_least_cpu_ns"]
        is_open = isinstance(its["share_of_cpu"], dict) and not isinstance(most, dict)
        return (most - least) / its["cpu_ns"] if is_open else 0
    row = next((each for each in its["causes"] if each["cause"] == cause), None)
    return row["at_least_cpu_ns"] / its["cpu_ns"] if row else 0


def whole(program: dict) -> float:
    """Returns the share of the CPU time that zeroing certainly takes: the sum over all causes except `unseen`."""
    return sum(share(program, cause) for cause in CAUSES if cause != "unseen")


def draw_shares(axes: Axes, programs: list[dict]) -> None:
    """Draws the stacked bars, each with its sum."""
    begins = [0.0] * len(programs)
    for cause, (label, colour) in CAUSES.items():
        widths = [share(program, cause) for program in programs]
        if any(widths):
            axes.barh(range(len(programs)), widths, left=begins, height=0.74, color=colour, label=label,
                      hatch="////" if cause == "unseen" else None, edgecolor="white", linewidth=0.4)
        begins = [begin + width for begin, width in zip(begins, widths)]
    for row, program in enumerate(programs):
        its = program["recorded"]
        bounds = "at least " if isinstance(its["zeroing_at_most_cpu_ns"], dict) else "at most "
        word = bounds if isinstance(its["share_of_cpu"], dict) else ""
        axes.text(begins[row], row, f" {word}{percent_text(begins[row])}", va="center", fontsize=7.5)
    axes.set_yticks(range(len(programs)), [program["name"] for program in programs], fontsize=8.5)
    axes.set_ylabel("program")
    axes.yaxis.set_label_coords(-(LEFT - 0.16) / (WIDTH - LEFT - RIGHT - GAP - MARGIN), 0.5)
    axes.set_xlim(0, max([*begins, 0.01]) * 1.14)
    axes.xaxis.set_major_formatter(lambda value, _: f"{plain_text(100 * value)} %")
    axes.set_xlabel("share of the program's CPU time")
    axes.set_title("Zeroing, by cause", loc="left", fontsize=11, pad=7)


def draw_ratios(axes: Axes, programs: list[dict]) -> None:
    """Draws the ratios of CPU time to the unchanged program, under largecache's policy adaptive and under the advice.
    """
    for row, program in enumerate(programs):
        for its, marker, colour, shift in (((program["adaptive"] or {}).get("cpu_ratio"), "o", "#444444", 0.0),
                                           ((program["advice"].get("ratios") or {}).get("cpu"), "D", "#C4500A", 0.22)):
            if its and "low" in its:
                axes.plot([its["low"], its["high"]], [row + shift] * 2, color=colour, linewidth=1)
            if its:
                axes.plot(its["median"], row + shift, marker, color=colour, markersize=3.6)
    for label, marker, colour in (("under largecache: adaptive", "o", "#444444"), ("with the advice", "D", "#C4500A")):
        axes.plot([], [], marker, color=colour, markersize=4, label=label)
    axes.axvline(1, color="#888888", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: number_text(value))
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlabel("unchanged program = 1")
    axes.tick_params(labelleft=False)
    axes.set_title("CPU time", loc="left", fontsize=11, pad=7)


def note_on(programs: list[dict]) -> str:
    """Returns the note below the figure. A single pair of recordings has no range that could be drawn as a line."""
    ranges = [ratio for each in programs if (ratio := (each["adaptive"] or {}).get("cpu_ratio")) and "low" in ratio]
    single = all(ratio["low"] == ratio["high"] for ratio in ranges)
    pairs = ("each dot of largecache is a single pair of recordings" if single else
             "lines of largecache are the lowest and highest of its pairs of recordings")
    return f"The recording of median CPU time, of all processes. At the right, {pairs}; lines of advice are 95 % intervals."


def draw(results: Results) -> Figure:
    """Draws the figure: shares on the left, ratios on the right."""
    document = document_of(results, FILE, SCHEMA, REMEDY)
    programs = sorted((each for each in document["programs"] if "recorded" in each), key=whole, reverse=True)
    if not programs:
        raise NothingToDraw(f"{FILE} has no program that was measured; {REMEDY}")
    missing = [each["name"] for each in document["programs"] if "recorded" not in each]
    notes = [note_on(programs)]
    page = Layout("What zeroing costs everyday programs of Debian", Results(results.source, document, []),
                  notes + ([f"Not measured: {', '.join(missing)}."] if missing else []))
    height = ROW * len(programs)
    figure = page.figure(0.42 + height + BELOW + LEGEND)
    total = figure.get_figheight()
    width = WIDTH - LEFT - RIGHT - GAP - MARGIN
    for left, its_width, panel in ((LEFT, width, draw_shares), (LEFT + width + GAP, RIGHT, draw_ratios)):
        axes = figure.add_axes((left / WIDTH, (page.foot + BELOW + LEGEND) / total, its_width / WIDTH, height / total))
        panel(axes, programs)
        axes.set_ylim(len(programs) - 0.4, -0.6)
        axes.grid(axis="x", color=style.GRID, linewidth=0.7)
        axes.tick_params(axis="y", length=0)
        axes.legend(loc="upper left", bbox_to_anchor=(0, -BELOW / height), ncols=3 if panel is draw_shares else 1, fontsize=8.5,
                    frameon=False, borderpad=0, borderaxespad=0, columnspacing=1.2, handlelength=1.2)
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=lambda path: load_document(path, FILE, SCHEMA, REMEDY)))
