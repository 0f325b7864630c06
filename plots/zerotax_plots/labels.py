"""Text in a figure: labels at the ends of lines, moved apart, and lines of text that fit."""

from __future__ import annotations

from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

LABEL_POINTS = 10.0
LINE = 1.28   # height of a line of text, in units of its font size


def text_width(text: str, points: float, bold: bool = False) -> float:
    """Returns the width of a text in inches, in DejaVu Sans of that size in points."""
    font = FontProperties(family="DejaVu Sans", size=points, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(text, font, False)[0] / 72


def wrap(text: str, inches: float, points: float, bold: bool = False) -> list[str]:
    """Returns lines of the text that are no wider than `inches`, broken at blanks or inside a wider word."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", points, bold) <= inches:
            lines[-1] += f" {word}"
            continue
        while text_width(word, points, bold) > inches and len(word) > 1:
            fits = max([n for n in range(1, len(word))
                        if text_width(word[:n], points, bold) <= inches], default=1)
            lines.append(word[:fits])
            word = word[fits:]
        lines.append(word)
    return lines


def spread(wanted: list[float], gap: float, low: float, high: float) -> list[float] | None:
    """Moves places apart, as little as possible, until neighbors are at least `gap` apart. `wanted` must be ascending.
    Returns places between low and high, or None if the places do not fit. Neighbors that collide become one block
    around the mean of the wanted places, until no blocks collide.
    """
    if not wanted:
        return []
    if (len(wanted) - 1) * gap > high - low:
        return None
    blocks: list[list[float]] = []   # [center, number of members]
    for place in wanted:
        blocks.append([place, 1])
        while True:
            centre, members = blocks[-1]
            half = (members - 1) * gap / 2
            centre = min(max(centre, low + half), high - half)
            blocks[-1][0] = centre
            if len(blocks) < 2:
                break
            before, count = blocks[-2]
            if centre - half - (before + (count - 1) * gap / 2) >= gap - 1e-9:
                break
            blocks[-2:] = [[(before * count + centre * members) / (count + members),
                            count + members]]
    return [centre + (i - (members - 1) / 2) * gap
            for centre, members in blocks for i in range(int(members))]


class LineEnd(NamedTuple):
    """The last point of a line in data coordinates, its name and its style."""

    x: float
    y: float
    label: str
    style: dict[str, Any]


def end_labels(axes: Axes, ends: list[LineEnd], inches: float, height: float) -> int:
    """Writes the name of each line beside its end, to the right of the axes, and returns how many names were written.
    `inches` is the width of the space at the right, and `height` the height of the axes. Names that are too wide appear
    only in the legend. If the axes are too low for all names, all names appear only in the legend.
    """
    room = inches - 0.28
    ends = [end for end in ends if text_width(end.label, LABEL_POINTS) <= room]
    place = axes.transData + axes.transAxes.inverted()
    at = {id(end): place.transform((end.x, end.y)) for end in ends}
    ends = sorted(reversed(ends), key=lambda end: at[id(end)][1])   # of two equal ends, the first line's name is on top
    gap = LABEL_POINTS * LINE / 72 / height
    places = spread([at[id(end)][1] for end in ends], gap, gap / 2, 1.0)
    if places is None:
        return 0
    width = axes.get_position().width * axes.figure.get_figwidth()
    for end, y in zip(ends, places):
        start = at[id(end)]
        if start[0] > 0.9:   # a longer line would look like data
            axes.plot([start[0], 1 + 0.12 / width], [start[1], y], transform=axes.transAxes,
                      color=end.style["color"], linewidth=0.7, clip_on=False, zorder=1.5)
        look = {**end.style, "linestyle": "none", "markersize": 5.5}
        axes.plot([1 + 0.18 / width], [y], transform=axes.transAxes, clip_on=False, **look)
        axes.text(1 + 0.27 / width, y, end.label, transform=axes.transAxes, va="center_baseline",
                  fontsize=LABEL_POINTS)
    return len(ends)
