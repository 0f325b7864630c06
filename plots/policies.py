#!/usr/bin/python3
"""Figure: each policy of largecache beside the best other allocator, by size and share of pages touched."""

from __future__ import annotations

import math
import sys

from zerotax_plots import main, style
from matplotlib import colors
from matplotlib.figure import Figure

from zerotax_plots.documents import document_of, load_document
from zerotax_plots.files import NothingToDraw
from zerotax_plots.layout import MARGIN, WIDTH, Layout
from zerotax_plots.results import Results
from zerotax_plots.units import number_text, plain_text, size_text

FIGURE = "policies"
NAME, SCHEMA = "policies.json", "zerotax.policies/1"
REMEDY = "run `build/bin/benchmark-policies --json policies.json`"
EARLIER = "`build/bin/benchmark-policies --read FILE --json NEW` adds them to this earlier file"
COLUMNS = 4
LEFT, GAP, HEADING, HEIGHT, BELOW = 1.15, 0.14, 0.42, 2.55, 0.62   # inches
# The color scale extends from a thousandth to a thousand times the best other allocator; white means equal.
SCALE = colors.LogNorm(1e-3, 1e3)


def ratio(cell: dict, policy: str) -> float | None:
    """Returns the policy's time as a multiple of the time of the cheapest allocator that is not a policy; None if it is
    n/a.
    """
    found = cell["contenders"].get(policy, {}).get("to_best_allocator")
    return None if isinstance(found, dict) else found


def draw(results: Results) -> Figure:
    """Draws the figure: a heat map per policy, with sizes on the y axis and shares on the x axis."""
    document = document_of(results, NAME, SCHEMA, REMEDY)
    cells, policies = document["groups"][0]["cells"], document.get("policies", [])
    if not policies:
        raise NothingToDraw(f"{results.source} has no ratios; {EARLIER}")
    sizes = sorted({cell["sizes"][0] for cell in cells})
    touches = sorted({cell["touch"] for cell in cells})
    by_place = {(cell["sizes"][0], cell["touch"]): cell for cell in cells}
    page = Layout("calloc + touch + free: time of each policy of largecache as a multiple of the best other allocator's",
                  Results(results.source, document, []),
                  ["Orange: dearer; violet: cheaper than the best of the other allocators."])
    rows = math.ceil(len(policies) / COLUMNS)
    figure = page.figure(rows * (HEADING + HEIGHT) + BELOW)
    total = figure.get_figheight()
    width = (WIDTH - LEFT - MARGIN - (COLUMNS - 1) * GAP) / COLUMNS
    for number, policy in enumerate(policies):
        row, column = divmod(number, COLUMNS)
        axes = figure.add_axes(((LEFT + column * (width + GAP)) / WIDTH,
                                1 - (page.head + (row + 1) * (HEADING + HEIGHT)) / total, width / WIDTH, HEIGHT / total))
        values = [[ratio(by_place[size, touch], policy) if (size, touch) in by_place else None
                   for touch in touches] for size in sizes]
        axes.imshow([[float("nan") if value is None else value for value in row] for row in values], origin="lower",
                    cmap="PuOr_r", norm=SCALE, aspect="auto")
        for y, line in enumerate(values):
            for x, value in enumerate(line):
                dark = value is not None and (value > 60 or value < 0.016)
                axes.text(x, y, "n/a" if value is None else number_text(value), ha="center", va="center", fontsize=7,
                          color="white" if dark else style.INK)
        axes.set_title(policy, fontsize=11)
        axes.set_xticks(range(len(touches)), [plain_text(touch * 100) for touch in touches])
        axes.set_yticks(range(len(sizes)), [size_text(size) for size in sizes])
        last = number + COLUMNS >= len(policies)   # whether no other map lies below this map
        axes.tick_params(labelleft=column == 0, labelbottom=last)
        if last:
            axes.set_xlabel("pages touched, %")
        if column == 0:
            axes.set_ylabel("size asked of calloc")
            axes.yaxis.set_label_coords(-(LEFT - 0.2) / width, 0.5)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return figure


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=lambda path: load_document(path, NAME, SCHEMA, REMEDY)))
