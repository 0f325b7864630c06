"""The content of a snapshot document: the results of each alternative."""

from __future__ import annotations

from typing import Any, NamedTuple

from zerotax_plots.documents import title_of
from zerotax_plots.looks import Style
from zerotax_plots.units import size_text

FILE = "snapshot.json"
SCHEMA = "zerotax.snapshot/1"
LOOKS = {
    "none": Style("#000000", "o", "-"),
    "fork": Style("#0063A2", "s", "-"),
    "fork_munmap": Style("#C85300", "^", "-"),
    "fork_dontneed": Style("#14A479", "D", "-"),
    "fork_huge": Style("#712553", "v", "-"),
    "shared_stop": Style("#56B4E9", "P", "-"),
    "copy_first": Style("#F7AD1E", "X", "-"),
    "uffd_wp": Style("#6B6B6B", "<", "-"),
    "published": Style("#0063A2", "o", "-"),
    "published_fixed": Style("#C85300", "o", "-"),
    "fork_populate": Style("#8FB8DE", "p", "-"),
    "munmap_populate": Style("#E8A87C", "h", "-"),
    "fork_touch": Style("#A05195", "*", "-"),
    "fork_mprotect": Style("#B3B3B3", "d", "-"),
    "fork_collapse": Style("#3D6B35", ">", "-"),
}


class Mark(NamedTuple):
    """One alternative: the slow-down of the writers, the added memory, and the time for which the writers are stopped.
    """

    name: str
    slowdown: float
    share: float | None   # fraction of the array's size
    stopped_ns: float


def chosen(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the results of the first allocator."""
    every = document["results"]
    return [result for result in every if result["allocator"] == every[0]["allocator"]]


def available(figure: Any) -> bool:
    """Returns whether a metric was measured."""
    return not (isinstance(figure, dict) and set(figure) == {"na"})


def marks(document: dict[str, Any]) -> list[Mark]:
    """Returns the marks to draw, as the document states them. A file of an earlier version has no marks."""
    found = []
    for result in chosen(document):
        mark = result.get("mark", {"na": "of an earlier version"})
        if available(mark):
            share = mark["memory_share"] if available(mark["memory_share"]) else None
            found.append(Mark(result["alternative"], mark["slowdown"], share, mark["stopped_ns"]))
    return found


def without_mark(result: dict[str, Any]) -> str:
    """Returns the reason why a result has no mark. Returns "" if the result has a mark, or the document states no
    reason.
    """
    mark = result.get("mark", {})
    return str(mark["na"]) if "na" in mark else ""


def title(document: dict[str, Any]) -> str:
    """Returns the largest and the smallest slow-down of the writers."""
    return title_of(document, f"A snapshot of {size_text(document['parameters']['array_bytes'])} under writers")
