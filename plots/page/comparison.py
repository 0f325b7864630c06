"""What the page of `zerotax compare` shows, taken from its JSON. Nothing is judged here."""

from __future__ import annotations

from typing import Any, Callable

from page.svg_chart import chart
from zerotax_units import count_text, exact_size_text, time_text

Part = dict[str, Any]
# The words of a verdict, as every command has them, and the class of the style sheet.
LOOKS = {"worse": "bad", "failed": "bad", "changed": "bad", "mixed": "bad"}
OF_POINT = {"SLOWER": "bad"}
FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("time of an operation", time_text),
    "zeroed_bytes": ("bytes zeroed by calloc", exact_size_text),
    "redundant_zeroed_bytes": ("of these, zero already", exact_size_text),
    "faults": ("page faults of an operation", count_text),
    "syscalls": ("system calls of an operation", count_text),
}


def number(figure: Any) -> float | None:
    """The figure, or None where it is {"na": why}."""
    return None if isinstance(figure, dict) or figure is None else float(figure)


def words(figure: Any, text: Callable[[float], str]) -> str:
    """The figure as text, or why there is none."""
    if isinstance(figure, dict):
        return f"n/a: {figure.get('na', '')}"
    return text(figure)


def _pair(point: Part, figure: str) -> tuple[Any, Any]:
    """A figure of both sides of a point."""
    if figure == "time":
        return point["old"]["ns"], point["new"]["ns"]
    its = next((each for each in point["work"] if each["figure"] == figure), None)
    none = {"na": "not compared"}
    return (its["old"], its["new"]) if its else (none, none)


def _panel_name(point: Part) -> tuple[str, str, float, str]:
    allocator = point["old"]["allocator"] or point["new"]["allocator"]
    return allocator, point["case"], point["touch"], point["thread"]


def panels(points: list[Part]) -> list[Part]:
    """The charts of each allocator, case, touch and thread, those in which a verdict is not SAME first."""
    by_name: dict[tuple[str, str, float, str], list[Part]] = {}
    for point in points:
        by_name.setdefault(_panel_name(point), []).append(point)
    several = len({name[0] for name in by_name}) > 1
    made = []
    for (allocator, case, touch, thread), own in by_name.items():
        own = sorted(own, key=lambda point: point["size_bytes"])
        charts = []
        for figure, (title, text) in FIGURES.items():
            pairs = [_pair(point, figure) for point in own]
            sizes = [point["size_bytes"] for point in own]
            drawn = chart(title, sizes, [number(old) for old, _ in pairs], [number(new) for _, new in pairs], text)
            if not drawn["empty"]:
                charts.append(drawn)
        name = f"{case}, touch {touch:g}, {thread} thread"
        differs = any(point["verdict"] != "SAME" for point in own)
        made.append({"name": f"{allocator}: {name}" if several else name, "charts": charts, "differs": differs})
    return sorted(made, key=lambda panel: not panel["differs"])


def compare_parts(document: Part) -> Part:
    """The parts of the page of zerotax.compare/1."""
    rows = []
    for point in document["points"]:
        cells = []
        for figure, (_, text) in FIGURES.items():
            old, new = _pair(point, figure)
            cells.append((words(old, text), words(new, text)))
        rows.append(
            {
                "name": point["label"],
                "cells": cells,
                "verdict": point["verdict"],
                "look": OF_POINT.get(point["verdict"], ""),
                "reason": point["reason"],
            }
        )
    return {
        "command": "zerotax compare",
        "verdict": document["verdict"],
        "look": LOOKS.get(document["verdict"], ""),
        "sentence": document["sentence"],
        "sides": [("OLD", document["old"]["label"]), ("NEW", document["new"]["label"])],
        "notes": document["notes"],
        "groups": [],
        "panels": panels(document["points"]),
        "heads": [title for title, _ in FIGURES.values()],
        "rows": rows,
        "thing": "point",
    }
