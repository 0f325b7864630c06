#!/usr/bin/python3
"""Figure: what real programs cost under every allocator and policy, beside the cheaper of glibc's two settings."""

from __future__ import annotations

import sys

from zerotax_plots import main
from matplotlib import colors
from matplotlib.figure import Figure

from zerotax_plots.documents import document_of, load_document
from zerotax_plots.heat import draw_panels
from zerotax_plots.layout import Layout
from zerotax_plots.results import Results

FIGURE = "programs"
LEFT, BELOW = 1.2, 1.25   # inches
NAME, SCHEMA = "programs.json", "zerotax.programs/1"
REMEDY = "run `build/bin/benchmark-programs --json programs.json`"
# Faults differ by orders of magnitude, times hardly by one; white is equal.
PANELS = (("page faults", "faults_ratio", colors.LogNorm(1e-2, 1e2)), ("CPU time", "cpu_ratio", colors.LogNorm(1 / 3, 3)))


def ratio(program: dict, contender: str, key: str) -> float | str:
    """The median of the ratios to the cheaper glibc. "fails" is not "n/a": its run ended otherwise than glibc's."""
    found = program["contenders"].get(contender, {})
    value = found.get(key, {}).get("median")
    return value if value is not None else "n/a" if found.get("status", "ok") == "ok" else "fails"


def draw(results: Results) -> Figure:
    """The figure: faults to the left, CPU time to the right."""
    document = document_of(results, NAME, SCHEMA, REMEDY)
    programs = [program for program in document["programs"] if "na" not in program["contenders"]]
    contenders = [contender["name"] for contender in document["contenders"]]
    page = Layout("Real programs: page faults and CPU time as a multiple of glibc's, the cheaper of default and raised",
                  Results(results.source, document, []), ["Orange: dearer; violet: cheaper. Medians of paired ratios."])
    panels = [(title, [(each["name"], [ratio(each, name, key) for name in contenders]) for each in programs], norm)
              for title, key, norm in PANELS]
    return draw_panels(page, panels, contenders, "allocator, or policy of largecache", LEFT, BELOW)


if __name__ == "__main__":
    sys.exit(main.main(FIGURE, draw, __doc__, load=lambda path: load_document(path, NAME, SCHEMA, REMEDY)))
