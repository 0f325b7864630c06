#!/usr/bin/python3
"""Figure: the cost of real programs under every allocator and policy, beside the cheaper of glibc's two settings."""

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
# Factors of faults differ by orders of magnitude, factors of times by less than 10. White means equal.
PANELS = (("page faults", "faults_ratio", colors.LogNorm(1e-2, 1e2)), ("CPU time", "cpu_ratio", colors.LogNorm(1 / 3, 3)))


def ratio(program: dict, contender: str, key: str) -> float | str:
    """Returns the median of the ratios to the cheaper setting of glibc. "fails" means that the exit status differs from
    glibc's; "n/a" means any other missing value.
    """
    found = program["contenders"].get(contender, {})
    value = found.get(key, {}).get("median")
    return value if value is not None else "n/a" if found.get("status", "ok") == "ok" else "fails"


def draw(results: Results) -> Figure:
    """Draws the figure: faults on the left, CPU time on the right."""
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
