"""What calloc does at which size, from a thresholds file: pieces of a bar, and marks where it changes."""

from __future__ import annotations

from typing import Any, NamedTuple

from zerotax_looks import order
from zerotax_units import plain_text

NO_ZEROS_BACK, NO_ZEROS_KEPT = "writes no zeros, gives memory back", "writes no zeros, keeps memory"
DIRTY, NEEDLESS, UNKNOWN = "zeroes what was dirty", "zeroes needlessly", "not known"
RETURNING = {"munmap", "madvise", "brk"}   # system calls by which free gives memory back


class Tick(NamedTuple):
    """A threshold in a lane. `steady` is whether later callocs change, too, or the first alone."""

    at: int
    steady: bool
    noisy: bool


class Lane(NamedTuple):
    """One bar: `pieces` are (first size, first size beyond, behaviour)."""

    allocator: str
    name: str
    touch: float
    thread: str
    pieces: list[tuple[int, int, str]]
    ticks: list[Tick]

    def label(self) -> str:
        """The name of the lane beside that of its allocator."""
        return f"touch {plain_text(self.touch)}" + (" (worker)" if self.thread == "worker" else "")


def behaviour(signature: dict[str, Any]) -> str:
    """What later callocs do, in the words of the legend."""
    reuse = signature.get("reuse")
    if signature["status"] != "ok" or reuse is None or reuse["zeroed"] == "n/a":
        return UNKNOWN
    if reuse["zeroed"] == "none":
        if reuse["free_syscalls"] == ["n/a"]:
            return UNKNOWN
        return NO_ZEROS_BACK if RETURNING & set(reuse["free_syscalls"]) else NO_ZEROS_KEPT
    if reuse["redundant"] == "n/a":
        return UNKNOWN
    return DIRTY if reuse["redundant"] == "none" else NEEDLESS


def _lane(raw: dict[str, Any], thresholds: list[dict[str, Any]]) -> Lane:
    own = sorted((entry for entry in thresholds if all(
        entry[key] == raw[key] for key in ("allocator", "touch", "thread"))),
        key=lambda entry: entry["at_bytes"])
    edges = [raw["from_bytes"], *[entry["at_bytes"] for entry in own], raw["to_bytes"] + 1]
    states = [raw["at_from"], *[entry["above"] for entry in own]]
    pieces: list[tuple[int, int, str]] = []
    for low, high, state in zip(edges, edges[1:], states):
        if pieces and pieces[-1][2] == behaviour(state):
            pieces[-1] = (pieces[-1][0], high, pieces[-1][2])
        else:
            pieces.append((low, high, behaviour(state)))
    ticks = [Tick(entry["at_bytes"], entry["below"].get("reuse") != entry["above"].get("reuse"),
                  entry["noisy"] or not entry["exact"]) for entry in own]
    settings = " ".join(f"{key}={value}" for key, value in sorted(raw["env"].items()))
    name = raw["allocator"] + (f" [{settings}]" if settings else "")
    return Lane(raw["allocator"], name, float(raw["touch"]), raw["thread"], pieces, ticks)


def lanes_of(document: dict[str, Any]) -> list[Lane]:
    """The lanes to draw: of the worker thread only those that differ from the main thread's.

    Known allocators come first, and each one's lanes by touch.
    """
    every = [_lane(raw, document["thresholds"]) for raw in document["lanes"]]
    main = {(lane.allocator, lane.touch): lane for lane in every if lane.thread == "main"}

    def is_news(lane: Lane) -> bool:
        like = main.get((lane.allocator, lane.touch))
        return lane is like or like is None \
            or (lane.pieces, lane.ticks) != (like.pieces, like.ticks)

    return sorted(filter(is_news, every),
                  key=lambda lane: (order(lane.allocator), lane.touch, lane.thread))
