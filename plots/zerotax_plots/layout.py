"""The text around the panels of every figure: title, machine and versions, footnotes."""

from __future__ import annotations

from collections import Counter

from matplotlib.figure import Figure

from zerotax_plots.labels import LINE, wrap
from zerotax_plots.results import Na, Results
from zerotax_plots.style import FAINT, INK
from zerotax_plots.summary import subtitle, unfinished
from zerotax_plots.units import counted_text

WIDTH = 10.67          # inches: 1600 pixels at 150 dpi
MARGIN = 0.14
TITLE, SUBTITLE, NOTE = 13.5, 10.5, 9.5   # points; a README shows a figure at half of its 150 dpi
REASONS = 4            # maximum number of reasons that a footnote lists one by one


def tell(reasons: Counter[Na]) -> str:
    """Returns reasons with counts, the most frequent first: "3 points n/a: no pagemap; 1 point crashed: signal 11"."""
    told = [f"{counted_text(count, 'point')} {na.kind}: "
            f"{na.why if len(na.why) <= 90 else na.why[:89] + '…'}"
            for na, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
    rest = sum(sorted(reasons.values(), reverse=True)[REASONS:])
    return "; ".join(told[:REASONS]) + (f"; and {rest} more" if rest else "")


def gaps(values: list[list[float | Na]]) -> list[str]:
    """Returns the footnote on missing values. `values` contains, for each point, the metrics that the figure draws."""
    reasons: Counter[Na] = Counter()
    for figures in values:
        missing = [figure for figure in figures if isinstance(figure, Na)]
        if missing:
            reasons[missing[0]] += 1
    return [f"Gaps: {tell(reasons)}."] if reasons else []


class Layout:
    """Lays out a figure from the top down, in inches, so that no text runs into another."""

    def __init__(self, title: str, results: Results, notes: list[str]) -> None:
        room = WIDTH - 2 * MARGIN
        self.title = wrap(title, room, TITLE, bold=True)
        self.subtitle = [line for part in subtitle(results)
                         for line in wrap(part, room, SUBTITLE)]
        self.notes = [line for note in [*notes, *unfinished(results)]
                      for line in wrap(note, room, NOTE)]
        self.head = MARGIN + self._height(self.title, TITLE) + 0.05 \
            + self._height(self.subtitle, SUBTITLE)
        self.foot = MARGIN + self._height(self.notes, NOTE)

    @staticmethod
    def _height(lines: list[str], points: float) -> float:
        return len(lines) * points * LINE / 72

    def figure(self, body: float) -> Figure:
        """Returns a figure with its text, and `body` inches between the head and the footnotes."""
        height = self.head + body + self.foot
        figure = Figure(figsize=(WIDTH, height))
        figure.set_label(" ".join(self.title))   # the files' metadata contain the title
        y = height - MARGIN

        def write(lines: list[str], points: float, **look: str) -> None:
            nonlocal y
            for line in lines:
                figure.text(MARGIN / WIDTH, y / height, line, fontsize=points, va="top", **look)
                y -= points * LINE / 72

        write(self.title, TITLE, weight="bold", color=INK)
        y -= 0.05
        write(self.subtitle, SUBTITLE, color=FAINT)
        y = self.foot
        write(self.notes, NOTE, color=FAINT)
        return figure
