"""Functions that several parts of the pages share: names of lines, metrics that may be missing, and links into the page
of a run.
"""

from __future__ import annotations

from typing import Any, Callable
from urllib.parse import urlencode

from zerotax_plots.looks import labels
from zerotax_plots.results import Key, Na, Point, Results
from zerotax_plots.units import plain_text

Value = Callable[[Point], "float | Na"]


def number(figure: Any) -> float | None:
    """Returns the metric, or None if it is {"na": reason}."""
    return None if isinstance(figure, dict) or figure is None else float(figure)


def words(figure: Any, text: Callable[[float], str]) -> str:
    """Returns the metric or the median of a spread as text, or the reason why it is missing."""
    if isinstance(figure, dict):
        return text(figure["median"]) if "median" in figure else f"n/a: {figure.get('na', '')}"
    return text(figure)


def line_of(point: dict[str, Any]) -> str:
    """Returns the line to which a point belongs: its case, touch and thread."""
    return f"{point['case']}, touch {plain_text(point['touch'])}, {point['thread']} thread"


def full_names(results: Results) -> dict[Key, str]:
    """Returns the full name of each line, which includes the version: "mimalloc 2.0.9 [A=1]"."""
    versions = {}
    for points in results.cases.values():
        for point in points:
            version = point.raw.get("version")
            versions[point.key] = f" {version}" if isinstance(version, str) else ""
    named = labels(sorted(versions))
    return {key: key.allocator + versions[key] + label[len(key.allocator) :] for key, label in named.items()}


def first_call(point: Point, name: str) -> float | Na:
    """Returns a metric of the first operation of the process."""
    early = point.raw.get("first_ops")
    if point.status != "ok" or not early:
        return point.figure(name) if point.status != "ok" else Na("no first operation in the results")
    return Point(point.key, point.size, point.touch, "ok", "", early[0]).figure(name)


def link(
    figure: str,
    case: str = "calloc_loop",
    touch: float = 0.0,
    thread: str = "main",
    size: int | None = None,
    **more: str,
) -> str:
    """Returns the fragment that shows this case, touch and thread in a figure of the page, with the figure's cursor at
    `size` bytes.
    """
    state = {"case": case, "touch": plain_text(touch), "thread": thread, **more}
    if size is not None:
        state["at"] = str(size)
    return "#" + urlencode({**state, "go": figure})
