"""The content of the page of `zerotax check -- COMMAND`, taken from its JSON. Nothing is judged here."""

from __future__ import annotations

import shlex
from typing import Any

from zerotax_plots.page.comparison import counted, gravest_first, outcome
from zerotax_plots.units import count_text, size_text

Part = dict[str, Any]
NUMBERS = {
    "calls": "calls",
    "requested_bytes": "requested",
    "kernel_zeroed_bytes": "zeroed by the kernel",
    "refilled_bytes": "refilled",
    "returned_bytes": "returned",
    "zeroed_bytes": "zeroed",
    "peak_live_bytes": "live at the peak",
}


def _shown(value: Any, key: str) -> str:
    """Returns a value, a range of values, or the reason why the value is missing, as text."""
    if isinstance(value, dict) and "na" in value:
        return f"n/a: {value['na']}"
    text = size_text if key.endswith("_bytes") else count_text
    if isinstance(value, dict):
        low, high = text(value["low"]), text(value["high"])
        return low if value["low"] == value["high"] else f"{low} to {high}"
    return text(value)


def _pair(before: Any, after: Any, key: str) -> str:
    old, new = _shown(before, key), _shown(after, key)
    return old if old == new else f"{old} → {new}"


def _rows(document: Part) -> list[Part]:
    """Returns every metric of the command as a whole, and the changed metrics of its processes."""
    changes = {(each["process"], each["metric"]): each for each in document["changes"]}
    before, words = document["baseline"]["metrics"], document["words"]
    missing = {"na": "not in the baseline"}
    rows: dict[tuple[str | None, str], Part] = {
        (None, key): {"name": name, "cells": _pair(before.get(key, missing), document["metrics"][key], key)}
        for key, name in words.items()
    }
    for (process, key), each in changes.items():
        name = words[key] + (f" of {process}" if process else "")
        rows[process, key] = {"name": name, "cells": _pair(each["before"], each["after"], key)}
    return [
        {
            "name": row["name"],
            "href": "",
            "cells": [("before → now", row["cells"])],
            **outcome(changes[place]["direction"] if place in changes else "INVALID" if "n/a: " in row["cells"] else "same"),
        }
        for place, row in rows.items()
    ]


def _groups(changes: list[Part]) -> list[Part]:
    """Returns the changes in separate groups: worse, better, neither."""
    groups = []
    for direction in ("worse", "better", "neither"):
        lines = [each["line"] for each in changes if each["direction"] == direction]
        if lines:
            title = {"worse": "Costs more", "better": "Costs less", "neither": "Is done in another way"}[direction]
            groups.append({"id": direction, "title": title, "text": "; ".join(lines[:3]), "lines": lines, **outcome(direction)})
    return groups


def _places(sites: list[Part]) -> Part:
    """Returns the call sites that differ, with each number that differs at any call site."""
    used = [key for key in NUMBERS if any(site["before"][key] != site["after"][key] for site in sites)]
    rows = [
        (site["line"], [(NUMBERS[key], _pair(site["before"][key], site["after"][key], key)) for key in used])
        for site in sites
    ]
    return {"heads": [NUMBERS[key] for key in used], "rows": rows}


def _measured_on(side: Part) -> str:
    on = side["measured_on"]
    names = {"kernel": "Linux ", "thp": "huge pages ", "libc": "", "allocator": "allocator ", "cpus": "CPUs: ", "aslr": ""}
    return ", ".join(name + on[key] for key, name in names.items())


def program_parts(document: Part) -> Part:
    """Returns the parts of the page of zerotax.program_check/1."""
    baseline, verdict = document["baseline"], document["verdict"]
    command = shlex.join([*(f"{key}={value}" for key, value in document["env"].items()), *document["command"]])
    rows = _rows(document)
    accept = "Keep the improvement as the new baseline with" if verdict == "better" else "If this is intended, accept it with"
    return {
        "command": "zerotax check",
        "sentence": document["sentence"].removeprefix(f"{verdict}: "),
        "counts": counted(rows),
        "sides": [
            ("command", command),
            ("before", f"{document['name']} in {baseline['file']}, {baseline['runs']} runs; {_measured_on(baseline)}"),
            ("now", f"{document['runs']} {'run' if document['runs'] == 1 else 'runs'}; {_measured_on(document)}"),
        ],
        "warnings": [],
        "commands": [(accept, document["accept"])] if verdict != "same" else [],
        "notes": [
            *document["notes"],
            *(f"The baseline was measured elsewhere: {each}." for each in document["conditions"]),
            *(f"Not compared, {each['why']}: {each['name']}" for each in document["not_compared"]),
        ],
        "groups": _groups(document["changes"]),
        "places": _places(document["sites"]) if document["sites"] else None,
        "views": [],
        "every": "metric",
        "heads": ["before → now"],
        "rows": gravest_first(rows),
        "intervals": False,
        **outcome(verdict),
    }
