"""What a document of `zerotax cow` says: faults of a parent and of what it forked, over time."""

from __future__ import annotations

from typing import Any

from zerotax_plots.documents import title_of

FILE = "cow.json"
SCHEMA = "zerotax.cow/1"
SIDES = {False: "the parent", True: "its children"}


def counts(intervals: list[dict[str, Any]], child: bool, key: str) -> list[int]:
    """How many faults of a class the parent, or all children, had in each interval."""
    return [sum(process["counts"][key] for process in interval["processes"]
                if process["child"] == child) for interval in intervals]


def resident(intervals: list[dict[str, Any]], child: bool) -> list[float | None]:
    """Resident bytes at the end of each interval; none where nobody lives or it is not known."""
    sums: list[float | None] = []
    for interval in intervals:
        known = [process["rss_bytes"] for process in interval["processes"]
                 if process["child"] == child and not isinstance(process["rss_bytes"], dict)]
        sums.append(sum(known) if known else None)
    return sums


def copying_ended(document: dict[str, Any]) -> float | None:
    """Seconds until an only child had made nearly all of its copies; None where the document does not say so."""
    return document.get("copying_ended", {}).get("at_s")


def title(document: dict[str, Any]) -> str:
    """How many pages were copied, and by whom."""
    return title_of(document, "Copies, reuses and zero-fills over time")
