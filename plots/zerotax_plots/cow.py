"""The content of a document of `zerotax cow`: faults of a parent and its descendants, over time."""

from __future__ import annotations

from typing import Any

from zerotax_plots.documents import title_of

FILE = "cow.json"
SCHEMA = "zerotax.cow/1"
SIDES = {False: "the parent", True: "its children"}


def counts(intervals: list[dict[str, Any]], child: bool, key: str) -> list[int]:
    """Returns the number of faults of a class in each interval, for the parent or for all children together."""
    return [sum(process["counts"][key] for process in interval["processes"]
                if process["child"] == child) for interval in intervals]


def resident(intervals: list[dict[str, Any]], child: bool) -> list[float | None]:
    """Returns the resident bytes at the end of each interval. The value is None if no process is alive, or the number
    is unknown.
    """
    sums: list[float | None] = []
    for interval in intervals:
        known = [process["rss_bytes"] for process in interval["processes"]
                 if process["child"] == child and not isinstance(process["rss_bytes"], dict)]
        sums.append(sum(known) if known else None)
    return sums


def shared(intervals: list[dict[str, Any]]) -> list[float | None]:
    """Returns the bytes that the children share at the end of each interval, or None where the number is unknown."""
    sums: list[float | None] = []
    for interval in intervals:
        found = [process.get("sharing", {}).get("shared_bytes") for process in interval["processes"]
                 if process["child"]]
        known = [size for size in found if isinstance(size, int)]
        sums.append(sum(known) if known else None)
    return sums


def copying_ended(document: dict[str, Any]) -> float | None:
    """Returns the seconds until an only child had made nearly all of its copies; None if the document does not state
    this time.
    """
    return document.get("copying_ended", {}).get("at_s")


def title(document: dict[str, Any]) -> str:
    """Returns the document's title for the figure, or a plain title."""
    return title_of(document, "Copies, reuses and zero-fills over time")
