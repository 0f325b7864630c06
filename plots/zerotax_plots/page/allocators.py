"""The table of the page's first screen: a row for each allocator, judged by summary.json."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from zerotax_plots.page.facts import link, number
from zerotax_plots.units import count_text, ratio_text, size_text, time_text

Row = dict[str, Any]
LOOKS = {"never": "good", "unknown": "faint"}
MOST_EDGES = 2


def _worst(each: Row, labels: list[str]) -> Row | None:
    """Returns the time and size of the worst case, and the allocator with which it is compared."""
    worst = each["worst"]
    ns = number(worst.get("ns"))
    if ns is None:
        return None
    beside = whole = ""
    ratio, fastest_ns = number(worst["ratio"]), number(worst["fastest_ns"])
    if ratio is not None and fastest_ns is not None:
        beside = f"{ratio_text(ratio)} times {labels[worst['fastest']]}"
        whole = f"{beside} ({time_text(fastest_ns)})"
    size = worst["size_bytes"]
    return {"time": f"{time_text(ns)} at {size_text(size)}", "beside": beside, "whole": whole, "href": link("time", size=size)}


def _edges(name: str, thresholds: Row) -> list[Row]:
    """Returns the exact sizes at which needless zeroing begins or ends. Each size is a link to the threshold that the
    search found.
    """
    found = []
    for lane in thresholds.get("lanes", []):
        if (lane["name"], lane["touch"], lane["thread"]) != (name, 0, "main"):
            continue
        for (_, high, before), (_, _, after) in zip(lane["pieces"], lane["pieces"][1:]):
            if (before == "needless") == (after == "needless"):
                continue
            words = f"up to {count_text(high - 1)} B" if before == "needless" else f"from {count_text(high)} B"
            found.append({"text": words, "href": f"#{urlencode({'lane': lane['id'], 'at': high, 'go': 'map'})}"})
    return found[:MOST_EDGES]


def allocator_rows(document: Row | None, thresholds: Row) -> list[Row]:
    """Returns the rows, the worst allocator first; empty without a summary. `thresholds` is the page's part on
    thresholds.
    """
    if document is None:
        return []
    every = document["allocators"]
    labels = [each["label"] for each in every]
    rows = []
    for place in document.get("ranking", range(len(every))):
        each = every[place]
        # A summary of an earlier version does not contain remedies.
        avoid = each.get("avoid") or {}
        rows.append(
            {
                "allocator": each["allocator"],
                "name": each.get("name", each["label"]),
                "label": each["label"],
                "redundant": each["redundant"].get("text", each["redundant"]["word"]),
                "look": LOOKS.get(each["redundant"]["word"], ""),
                "exact": _edges(each.get("name", ""), thresholds) if each["redundant"]["ranges"] else [],
                "worst": _worst(each, labels),
                "why": each["worst"].get("na", "not timed"),
                "remedies": avoid.get("remedies", []),
                "avoid": avoid.get("text", "—"),
            }
        )
    return rows
