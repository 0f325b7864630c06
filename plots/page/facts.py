"""Names of the lines of a run, figures of first calls, and links into the page. Its judgements are in summary.json."""

from __future__ import annotations

from typing import Callable
from urllib.parse import urlencode

from zerotax_plots.looks import labels
from zerotax_plots.results import Key, Na, Point, Results

Value = Callable[[Point], "float | Na"]


def full_names(results: Results) -> dict[Key, str]:
    """The name of each line, with its version: "mimalloc 2.0.9 [A=1]"."""
    versions = {}
    for points in results.cases.values():
        for point in points:
            version = point.raw.get("version")
            versions[point.key] = f" {version}" if isinstance(version, str) else ""
    named = labels(sorted(versions))
    return {key: key.allocator + versions[key] + label[len(key.allocator) :] for key, label in named.items()}


def first_call(point: Point, name: str) -> float | Na:
    """A figure of the first operation of the process."""
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
    """The fragment that shows this in a figure of the page, its cursor at `size` bytes."""
    state = {"case": case, "touch": f"{touch:g}", "thread": thread, **more}
    if size is not None:
        state["at"] = str(size)
    return "#" + urlencode({**state, "go": figure})
