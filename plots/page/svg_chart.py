"""A chart of two lines, before and after, over sizes in bytes: the geometry of an SVG that needs no script."""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

from zerotax_units import exact_size_text, size_text

Values = Sequence["float | None"]
WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 74, 14, 12, 40
MOST_TICKS = 7


def _height(value: float) -> float:
    """Orders of magnitude from 1 on; 0 is 0. Figures of neighbouring sizes differ by factors, and many are 0."""
    return math.log10(1 + value)


def _thinned(values: list[Any], most: int) -> list[Any]:
    """At most so many of them, evenly spread, with the first and the last."""
    if len(values) <= most:
        return values
    return [values[round(i * (len(values) - 1) / (most - 1))] for i in range(most)]


def _path(points: list[tuple[float, float] | None]) -> str:
    """The line through the points; None interrupts it."""
    words, pen = [], False
    for point in points:
        if point is not None:
            words.append(f"{'L' if pen else 'M'}{point[0]:.1f} {point[1]:.1f}")
        pen = point is not None
    return " ".join(words)


def chart(title: str, sizes: Sequence[int], before: Values, after: Values, text: Callable[[float], str]) -> dict[str, Any]:
    """What the template draws: ticks, paths, and a mark with its words for each value. Sizes ascend."""
    low, high = math.log2(sizes[0]), math.log2(sizes[-1])
    known = [value for value in (*before, *after) if value is not None]
    most = max((_height(value) for value in known), default=0) or 1

    def x_of(size: int) -> float:
        inner = WIDTH - LEFT - RIGHT
        return LEFT + (inner * (math.log2(size) - low) / (high - low) if high > low else inner / 2)

    def y_of(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _height(value) / most

    lines = []
    for name, values in (("before", before), ("after", after)):
        places = [None if value is None else (x_of(size), y_of(value)) for size, value in zip(sizes, values)]
        marks = [
            {"x": place[0], "y": place[1], "text": f"{name}, {size_text(size)}: {text(value)}"}
            for size, value, place in zip(sizes, values, places)
            if place is not None and value is not None
        ]
        lines.append({"name": name, "path": _path(places), "marks": marks})
    # Bytes by their units: a count of so many digits would not fit beside the axis.
    of_bytes = text is exact_size_text
    step = 1024.0 if of_bytes else 10.0
    ticks = [0.0, *(step**power for power in range(math.floor(most / math.log10(step)) + 1))]
    return {
        "title": title,
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "foot": HEIGHT - BOTTOM,
        "xs": [{"x": x_of(size), "text": size_text(size)} for size in _thinned(list(sizes), 5)],
        "ys": [
            {"y": y_of(value), "text": size_text(value) if of_bytes else text(value)}
            for value in _thinned(ticks, MOST_TICKS)
        ],
        "lines": lines,
        "empty": not known,
    }
