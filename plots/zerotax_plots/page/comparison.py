"""The content of the page of `zerotax compare`, taken from its JSON. Nothing is judged here."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Iterable
from urllib.parse import urlencode

from zerotax_plots.documents import told
from zerotax_plots.looks import OTHERS, Style
from zerotax_plots.page.documents import line
from zerotax_plots.page.facts import line_of, number, words
from zerotax_plots.units import count_text, exact_size_text, size_text, time_text

Part = dict[str, Any]
# The verdicts of the commands, the most severe first, by the words that benchmarks use. The first word of a verdict is
# also the class in the style sheet.
OUTCOMES = {
    "failed": ("failed",),
    "regressed": ("worse", "SLOWER"),
    "mixed": ("mixed",),
    "changed": ("changed", "neither"),
    "improved": ("better", "FASTER"),
    "undecided": ("AMBIGUOUS", "skipped"),
    "not compared": ("INVALID",),
    "same": ("same", "SAME"),
}
WORDS = {verdict: word for word, verdicts in OUTCOMES.items() for verdict in verdicts}
LOOKS = {"failed": "regressed", "regressed": "regressed", "mixed": "regressed", "improved": "improved"}
BEFORE, AFTER = Style("#0063A2", "o", (0, (5, 1.6))), Style("#C85300", "^", "-")
FIGURES: dict[str, tuple[str, str, Callable[[float], str]]] = {
    "time": ("time of an operation", "time", time_text),
    "zeroed_bytes": ("bytes zeroed by calloc", "bytes", exact_size_text),
    "redundant_zeroed_bytes": ("of these, zero already", "bytes", exact_size_text),
    "faults": ("page faults of an operation", "count", count_text),
    "syscalls": ("system calls of an operation", "count", count_text),
}
HEADS = ["time", "zeroed", "zero already", "faults", "system calls"]  # headings of the table, in the order of FIGURES
SIDES = (("old", "before"), ("new", "after"))
INTERVAL_WIDTH, LEAST_RATIO = 150, 1.1  # width in pixels; ratio to which the scale of intervals always extends


def outcome(verdict: str) -> dict[str, str]:
    """Returns a verdict as a word, and the style of the word."""
    word = WORDS.get(verdict, verdict)
    return {"outcome": word, "look": LOOKS.get(word, "")}


def counted(rows: Iterable[Part]) -> str:
    """Returns the number of rows with each outcome, the most severe first: "1 regressed, 3 same"."""
    found = [row["outcome"] for row in rows]
    return ", ".join(f"{found.count(word)} {word}" for word in OUTCOMES if word in found)


def gravest_first(rows: list[Part]) -> list[Part]:
    """Sorts the rows by outcome."""
    order = list(OUTCOMES)
    return sorted(rows, key=lambda row: order.index(row["outcome"]))


Charts = list[tuple[str, str, str, list[list[Any]]]]


def view_of(name: str, sides: list[str], sizes: list[int], charts: Charts, changed: set[str]) -> Part:
    """Returns a view of the chart: the values of each side by size, for each metric that has values (key, name, unit,
    values of each side). `changed` contains the metrics that changed according to the document.
    """
    made = []
    for key, title, unit, values in charts:
        if all(number(value) is None for side in values for value in side):
            continue
        lines = [
            line(side, style, [float(size) for size in sizes], [number(each) for each in own], bare=True)
            for side, style, own in zip(sides, itertools.chain((BEFORE, AFTER), itertools.cycle(OTHERS)), values)
        ]
        made.append({"key": key, "name": title, "unit": unit, "lines": lines, "changed": key in changed})
    return {"name": name, "charts": made, "differs": bool(changed)}


def place_link(view: str, metric: str, size: int) -> str:
    """Returns the fragment that shows a point in the chart."""
    return "#" + urlencode({"view": view, "metric": metric, "at": size, "go": "chart"})


def _pair(point: Part, figure: str) -> tuple[Any, Any]:
    """Returns a metric of both sides of a point."""
    if figure == "time":
        return point["old"]["ns"], point["new"]["ns"]
    its = next((each for each in point["work"] if each["figure"] == figure), None)
    none = {"na": "not compared"}
    return (its["old"], its["new"]) if its else (none, none)


def _view_name(point: Part) -> str:
    allocator = point["old"]["allocator"] or point["new"]["allocator"]
    return f"{allocator}, {line_of(point)}"


def _views(documents: list[Part], sides: list[str]) -> list[Part]:
    """Returns the views. `sides` contains the name of OLD, and of NEW in each document."""
    none = {"na": "not in this run"}
    found: dict[str, dict[int, dict[int, Part]]] = {}
    for place, document in enumerate(documents):
        for point in document["points"]:
            found.setdefault(_view_name(point), {}).setdefault(point["size_bytes"], {})[place] = point
    views = []
    for name, by_size in found.items():
        sizes = sorted(by_size)
        charts: Charts = []
        for figure, (title, unit, _) in FIGURES.items():
            values: list[list[Any]] = [[] for _ in sides]
            for size in sizes:
                pairs = {place: _pair(point, figure) for place, point in by_size[size].items()}
                values[0].append(next(iter(pairs.values()))[0])
                for place in range(len(documents)):
                    values[place + 1].append(pairs.get(place, (none, none))[1])
            charts.append((figure, title, unit, values))
        own = [point for points in by_size.values() for point in points.values()]
        changed = {each["figure"] for point in own for each in point["work"] if each["change"] in ("more", "less")}
        changed |= {"time" for point in own if point["time"].get("verdict") in ("faster", "slower")}
        views.append(view_of(name, sides, sizes, charts, changed))
    return sorted(views, key=lambda view: not view["differs"])


def _interval(time: Part, reach: float) -> Part | None:
    """Returns the positions of a ratio and its interval, in pixels on a scale centered on no change; None without an
    interval.
    """
    its = time.get("interval_95")
    if not isinstance(its, dict) or "low" not in its:
        return None

    def place(ratio: float) -> float:
        return round(INTERVAL_WIDTH / 2 * (1 + max(-1.0, min(1.0, math.log(ratio) / reach))), 1)

    return {"low": place(its["low"]), "high": place(its["high"]), "at": place(time["ratio"])}


def _reach(points: list[Part]) -> float:
    ratios = [LEAST_RATIO]
    for point in points:
        its = point["time"].get("interval_95")
        if isinstance(its, dict) and "low" in its:
            ratios += [its["high"], 1 / its["low"]]
    return math.log(max(ratios))


def _row(point: Part, reach: float, label: str) -> Part:
    cells = []
    for head, (figure, (_, _, text)) in zip(HEADS, FIGURES.items()):
        old, new = (words(each, text) for each in _pair(point, figure))
        cells.append((head, old if old == new else f"{old} → {new}"))
    return {
        "name": label + point.get("label", size_text(point["size_bytes"])),
        "href": place_link(_view_name(point), "time", point["size_bytes"]),
        "cells": cells,
        "change": told(point, "change") or "n/a",
        "bounds": told(point, "change_interval"),
        "interval": _interval(point["time"], reach),
        "reason": point["reason"],
        "kinds": [(name, point[side]["modes"]) for side, name in SIDES if point[side].get("modes")],
        **outcome(point["verdict"]),
    }


def compare_parts(document: Part) -> Part:
    """Returns the parts of the page of zerotax.compare/1: OLD, and one or several runs beside it."""
    documents = [document, *document.get("more", [])]
    several = len(documents) > 1
    reach = _reach([point for each in documents for point in each["points"]])
    names = [each["new"]["label"] for each in documents]
    rows = [
        _row(point, reach, f"{name}: " if several else "")
        for each, name in zip(documents, names)
        for point in each["points"]
    ]
    notes = list(dict.fromkeys(note for each in documents for note in each["notes"]))
    verdicts = [{"name": name, "sentence": each["sentence"], **outcome(each["verdict"])} for each, name in zip(documents, names)]
    return {
        "command": "zerotax compare",
        "sentence": document["sentence"],
        "verdicts": verdicts if several else [],
        "counts": counted(rows),
        "sides": [("before", document["old"]["label"]), *(("after", name) for name in names)],
        "warnings": [],
        "notes": notes,
        "groups": [],
        "views": _views(documents, ["before", *names] if several else ["before", "after"]),
        "heads": HEADS,
        "rows": gravest_first(rows),
        "intervals": any(row["interval"] for row in rows),
        **outcome(document["verdict"]),
    }
