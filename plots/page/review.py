"""What the page of `zerotax check` shows, taken from its JSON. Nothing is judged here."""

from __future__ import annotations

from typing import Any, Callable

from page.comparison import LOOKS, number
from page.svg_chart import chart
from zerotax_units import count_text, exact_size_text

Part = dict[str, Any]
Place = tuple[str, float, str]


def _text_of(metric: str) -> Callable[[float], str]:
    return exact_size_text if metric.endswith("_bytes") else count_text


def _shown(value: Any, metric: str) -> str:
    """A value before or after: a figure, a word, system calls with their counts, why there is none; "none" for null."""
    if value is None:
        return "none"
    if isinstance(value, dict) and set(value) == {"na"}:
        return f"n/a: {value['na']}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(map(str, value)) or "none"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _text_of(metric)(value)
    return str(value)


def _total(value: Any) -> float | None:
    """What a chart can show: a number, or how many system calls there are."""
    if isinstance(value, dict) and "na" not in value and all(isinstance(each, int) for each in value.values()):
        return float(sum(value.values()))
    return number(value) if isinstance(value, (int, float)) else None


def _panels(label: str, changes: list[Part]) -> list[Part]:
    """Charts of what changed in the steady state, for each case, touch and thread."""
    found: dict[Place, dict[str, list[Part]]] = {}
    for change in changes:
        if change["point"] is None or change["metric"] is None or change["call"] != 0:
            continue
        point = change["point"]
        place = (point["case"], point["touch"], point["thread"])
        found.setdefault(place, {}).setdefault(change["metric"], []).append(change)
    panels = []
    for (case, touch, thread), metrics in found.items():
        charts = []
        for metric, own in metrics.items():
            own = sorted(own, key=lambda change: change["point"]["size_bytes"])
            sizes = [change["point"]["size_bytes"] for change in own]
            values = [[_total(change[side]) for change in own] for side in ("before", "after")]
            drawn = chart(metric.replace("_", " "), sizes, *values, _text_of(metric))
            if not drawn["empty"]:
                charts.append(drawn)
        if charts:
            panels.append({"name": f"{label}{case}, touch {touch:g}, {thread} thread", "charts": charts, "differs": True})
    return panels


def _rows(label: str, check: Part) -> list[Part]:
    group_of = {place: group for group in check["groups"] for place in group["changes"]}
    rows = []
    for place, change in enumerate(check["changes"]):
        group = group_of[place]
        metric = change["metric"] or ""
        rows.append(
            {
                "name": label + change["name"],
                "cells": [(_shown(change["before"], metric), _shown(change["after"], metric))],
                "verdict": group["direction"],
                "look": "" if group["direction"] == "better" else "bad",
                "reason": group["title"],
            }
        )
    return rows


def check_parts(document: Part) -> Part:
    """The parts of the page of zerotax.check/1."""
    groups, panels, rows, notes, sides = [], [], [], [], []
    several = len(document["checks"]) > 1
    for check in document["checks"]:
        label = f"{check['label']}: " if several else ""
        baseline = check["baseline"]
        version = baseline["version"] if isinstance(baseline["version"], str) else ""
        sides += [("before", f"{baseline['allocator']} {version} ({baseline['file']})"), ("after", check["label"])]
        for group in check["groups"]:
            lines = [check["changes"][place]["line"] for place in group["changes"]]
            groups.append(
                {
                    "title": label + group["title"],
                    "verdict": group["direction"],
                    "look": "" if group["direction"] == "better" else "bad",
                    "text": group["sentence"],
                    "lines": lines,
                }
            )
        panels += _panels(label, check["changes"])
        rows += _rows(label, check)
        notes += [label + note for note in check["notes"]]
        notes += [label + each["sentence"] for each in check["conditions"] if each["may_explain"]]
        notes += [f"{label}not compared, {each['why']}: {each['name']}" for each in check["not_compared"]]
        if check["changes"]:
            notes.append(f"{label}If this is intended, accept it with: {check['accept']}")
    return {
        "command": "zerotax check",
        "verdict": document["verdict"],
        "look": LOOKS.get(document["verdict"], ""),
        "sentence": document["sentence"],
        "sides": sides,
        "notes": notes,
        "groups": groups,
        "panels": panels,
        "heads": ["before → after"],
        "rows": rows,
        "thing": "change",
    }
