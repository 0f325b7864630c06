"""The content of the page of `zerotax check`, taken from its JSON. Nothing is judged here."""

from __future__ import annotations

from typing import Any

from zerotax_plots.page.comparison import Charts, counted, gravest_first, outcome, place_link, view_of
from zerotax_plots.page.facts import line_of
from zerotax_plots.units import count_text, exact_size_text, plain_text, size_text

Part = dict[str, Any]


def _shown(value: Any, metric: str) -> str:
    """Returns a value before or after, as text: a metric, a word, system calls with their counts, or why it is missing;
    "none" for null.
    """
    if value is None:
        return "none"
    if isinstance(value, dict) and set(value) == {"na"}:
        return f"n/a: {value['na']}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(map(str, value)) or "none"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return exact_size_text(value) if metric.endswith("_bytes") else count_text(value)
    return str(value)


def _total(value: Any) -> Any:
    """Returns the value for a chart: a number, or the total number of system calls; otherwise {"na": reason}."""
    if isinstance(value, dict) and "na" not in value:
        return sum(value.values())
    return value if isinstance(value, (int, float, dict)) else {"na": "no number"}


def _view_name(label: str, point: Part) -> str:
    return label + line_of(point)


def _views(label: str, check: Part) -> list[Part]:
    """Returns the values of every point before and after, changed or not, for each case, touch and thread."""
    changed: dict[str, set[str]] = {}
    for change in check["changes"]:
        if change["point"] and change["metric"] and change["call"] == 0:
            changed.setdefault(_view_name(label, change["point"]), set()).add(change["metric"])
    by_name: dict[str, list[Part]] = {}
    for point in check.get("points", []):
        by_name.setdefault(_view_name(label, point), []).append(point)
    views = []
    for name, own in by_name.items():
        own = sorted(own, key=lambda point: point["size_bytes"])
        metrics = [key for key in dict.fromkeys(key for point in own for key in point["before"]) if key != "status"]
        charts: Charts = []
        for metric in metrics:
            sides = [[_total(point[side].get(metric, {"na": "not measured"})) for point in own] for side in ("before", "after")]
            unit = "bytes" if metric.endswith("_bytes") else "count"
            charts.append((metric, metric.replace("_", " "), unit, sides))
        sizes = [point["size_bytes"] for point in own]
        views.append(view_of(name, ["before", "after"], sizes, charts, changed.get(name, set())))
    return sorted(views, key=lambda view: not view["differs"])


def _rows(label: str, check: Part) -> list[Part]:
    """Returns a row for each change, and one for each unchanged point."""
    group_of = {place: group for group in check["groups"] for place in group["changes"]}
    rows = []
    for place, change in enumerate(check["changes"]):
        group = group_of[place]
        metric = change["metric"] or ""
        old, new = _shown(change["before"], metric), _shown(change["after"], metric)
        point = change["point"]
        rows.append(
            {
                "name": label + change["name"],
                "href": place_link(_view_name(label, point), metric, point["size_bytes"]) if point else "",
                "cells": [("before → after", f"{old} → {new}")],
                "reason": group["title"],
                "kinds": [],
                **outcome(group["direction"]),
            }
        )
    for point in check.get("points", []):
        if point["verdict"] == "same":
            name = f"{point['case']} {size_text(point['size_bytes'])} touch {plain_text(point['touch'])} {point['thread']}"
            href = place_link(_view_name(label, point), "", point["size_bytes"])
            rows.append(
                {
                    "name": label + name,
                    "href": href,
                    "cells": [("before → after", "as before")],
                    "reason": "",
                    "kinds": [],
                    **outcome("same"),
                }
            )
    return rows


def check_parts(document: Part) -> Part:
    """Returns the parts of the page of zerotax.check/1."""
    groups: list[Part] = []
    views: list[Part] = []
    rows: list[Part] = []
    notes: list[str] = []
    sides: list[tuple[str, str]] = []
    warnings: list[str] = []
    commands: list[tuple[str, str]] = []
    several = len(document["checks"]) > 1
    for check in document["checks"]:
        label = f"{check['label']}: " if several else ""
        baseline = check["baseline"]
        version = baseline["version"] if isinstance(baseline["version"], str) else ""
        sides += [("before", f"{baseline['allocator']} {version} ({baseline['file']})"), ("after", check["label"])]
        for n, group in enumerate(check["groups"]):
            lines = [check["changes"][place]["line"] for place in group["changes"]]
            groups.append(
                {
                    "id": f"change-{len(groups) + 1}",
                    "title": label + group["title"],
                    "text": group["sentence"],
                    "lines": lines,
                    **outcome(group["direction"]),
                }
            )
        views += _views(label, check)
        rows += _rows(label, check)
        if (check.get("load") or {}).get("busy"):
            warnings.append(label + check["load"]["sentence"])
        notes += [label + note for note in check["notes"]]
        notes += [label + each["sentence"] for each in check["conditions"] if each["may_explain"]]
        notes += [f"{label}not compared, {each['why']}: {each['name']}" for each in check["not_compared"]]
        if check["changes"]:
            commands.append((f"{label}If this is intended, accept it with", check["accept"]))
    return {
        "command": "zerotax check",
        "sentence": document["sentence"].removeprefix(f"{document['verdict']}: "),
        "counts": counted(rows),
        "sides": list(dict.fromkeys(sides)),
        "warnings": warnings,
        "commands": commands,
        "notes": notes,
        "groups": groups,
        "views": sorted(views, key=lambda view: not view["differs"]),
        "heads": ["before → after"],
        "rows": gravest_first(rows),
        "intervals": False,
        **outcome(document["verdict"]),
    }
