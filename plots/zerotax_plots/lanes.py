"""The lanes of a thresholds file for a map: the pieces of a bar, and a mark for each threshold, in the words of
zerotax.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from zerotax_plots.documents import read_document
from zerotax_plots.files import ResultsError
from zerotax_plots.looks import order
from zerotax_plots.units import plain_text

UNKNOWN = "unknown"   # also the word of a lane on which no command has a statement


class Tick(NamedTuple):
    """A threshold in a lane. `steady` is whether later callocs change as well, or only the first."""

    at: int
    steady: bool
    doubtful: bool


class Lane(NamedTuple):
    """One bar. `pieces` are (first size, first size beyond, word for what calloc does)."""

    allocator: str
    name: str
    touch: float
    thread: str
    pieces: list[tuple[int, int, str]]
    ticks: list[Tick]

    def label(self) -> str:
        """Returns the name of the lane without the allocator's name."""
        return f"touch {plain_text(self.touch)}" + (" (worker)" if self.thread == "worker" else "")


def _lane(raw: dict[str, Any], thresholds: list[dict[str, Any]]) -> Lane:
    own = sorted((entry for entry in thresholds if all(
        entry[key] == raw[key] for key in ("allocator", "touch", "thread"))),
        key=lambda entry: entry["at_bytes"])
    untold = [{"from_bytes": raw["from_bytes"], "to_bytes": raw["to_bytes"], "word": UNKNOWN}]
    pieces = [(piece["from_bytes"], piece["to_bytes"] + 1, piece["word"]) for piece in raw.get("pieces", untold)]
    ticks = [Tick(entry["at_bytes"], entry.get("steady", True), entry.get("doubtful", False)) for entry in own]
    return Lane(raw["allocator"], raw.get("name", raw["allocator"]), float(raw["touch"]), raw["thread"], pieces, ticks)


def changes_of(source: Path) -> dict[tuple[str, float, str], list[int]]:
    """Returns the sizes at which the behavior of later callocs changes, grouped by allocator, touch and thread.

    Reads the thresholds.json beside a run's file. Without such a file, or with a damaged file, the result is empty. The
    map of thresholds reports the damage, which does not affect other figures.
    """
    path = (source if source.is_dir() else source.parent) / "thresholds.json"
    if not path.is_file():
        return {}
    found: dict[tuple[str, float, str], list[int]] = {}
    try:
        for entry in read_document(path, "zerotax.thresholds/1", "search again")["thresholds"]:
            if entry.get("steady", True):
                found.setdefault((entry["allocator"], float(entry["touch"]), entry["thread"]), []).append(int(entry["at_bytes"]))
    except (ResultsError, KeyError, TypeError, ValueError, AttributeError):
        return {}
    return found


def lanes_of(document: dict[str, Any]) -> list[Lane]:
    """Returns the lanes to draw. Lanes of the worker thread are included only if they differ from those of the main
    thread.

    Known allocators come first, and the lanes of each are sorted by touch.
    """
    every = [_lane(raw, document["thresholds"]) for raw in document["lanes"] if not raw.get("like_main", False)]
    return sorted(every, key=lambda lane: (order(lane.allocator), lane.touch, lane.thread))


def words_of(document: dict[str, Any]) -> dict[str, str]:
    """Returns the meanings of the words of pieces, for the legend."""
    return {UNKNOWN: "not known", **document.get("words", {})}
