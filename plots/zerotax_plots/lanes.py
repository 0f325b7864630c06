"""A thresholds file as lanes of a map: pieces of a bar, and marks where it changes, as zerotax wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from zerotax_plots.documents import read_document
from zerotax_plots.files import ResultsError
from zerotax_plots.looks import order
from zerotax_plots.units import plain_text

UNKNOWN = "unknown"   # also where no command told what a lane does


class Tick(NamedTuple):
    """A threshold in a lane. `steady` is whether later callocs change, too, or the first alone."""

    at: int
    steady: bool
    doubtful: bool


class Lane(NamedTuple):
    """One bar: `pieces` are (first size, first size beyond, word of what calloc does)."""

    allocator: str
    name: str
    touch: float
    thread: str
    pieces: list[tuple[int, int, str]]
    ticks: list[Tick]

    def label(self) -> str:
        """The name of the lane beside that of its allocator."""
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
    """The sizes at which later callocs change, by allocator, touch and thread, from the thresholds.json beside a run's
    file; none without one. One that is damaged is the map's to report, and costs the other figures nothing.
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
    """The lanes to draw: of the worker thread only those that differ from the main thread's.

    Known allocators come first, and each one's lanes by touch.
    """
    every = [_lane(raw, document["thresholds"]) for raw in document["lanes"] if not raw.get("like_main", False)]
    return sorted(every, key=lambda lane: (order(lane.allocator), lane.touch, lane.thread))


def words_of(document: dict[str, Any]) -> dict[str, str]:
    """What the words of pieces mean, for the legend."""
    return {UNKNOWN: "not known", **document.get("words", {})}
