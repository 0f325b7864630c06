"""What the points of one run say of each allocator: where it zeroes needlessly, where it is slow, and by how much."""

from __future__ import annotations

from typing import Callable, NamedTuple
from urllib.parse import urlencode

from zerotax_looks import labels, order
from zerotax_results import Key, Na, Point, Results

# What is called slow in a sentence: so many times the fastest, and so many nanoseconds a call. A system call more makes
# a call of 200 ns ten times as slow, and nobody notices.
SLOW, NOTICED = 10.0, 1e5

Span = tuple[int, int]  # two measured sizes in bytes, both included
Value = Callable[[Point], "float | Na"]


class Dearest(NamedTuple):
    """A size, what an allocator takes there, and who is the fastest there: the same unit, a ratio of 1 or more."""

    size: int
    value: float
    best_name: str
    best: float

    def ratio(self) -> float:
        """How many times the fastest's."""
        return self.value / self.best


class Tax(NamedTuple):
    """One allocator in one configuration, on the main thread, with nothing touched."""

    key: Key
    name: str
    sizes: list[int]  # that have an answer, ascending
    unknown: int  # sizes that have none
    paying: list[Span]  # at least half of each block is zeroed though it was zero
    first: list[Span]  # the same for the first call of a process
    slow: list[Span]  # the call takes SLOW times the fastest's time or more, and NOTICED or more
    dearest: Dearest | None  # of all sizes, where it takes most
    worst: Dearest | None  # where it takes most in times of the fastest


def full_names(results: Results) -> dict[Key, str]:
    """What each line is called, with its version: "mimalloc 2.0.9 [A=1]"."""
    versions = {}
    for points in results.cases.values():
        for point in points:
            version = point.raw.get("version")
            versions[point.key] = f" {version}" if isinstance(version, str) else ""
    named = labels(sorted(versions))
    return {key: key.allocator + versions[key] + label[len(key.allocator) :] for key, label in named.items()}


def spans(sizes: list[int], holds: list[bool]) -> list[Span]:
    """Neighbouring measured sizes at which something holds."""
    found: list[Span] = []
    before = False
    for size, now in zip(sizes, holds):
        if now:
            found.append((found.pop()[0] if before else size, size))
        before = now
    return found


def half(point: Point, value: float | Na) -> bool | None:
    """Whether at least half of the block is meant: a stray page or a header is no tax. None if it is not known."""
    return None if isinstance(value, Na) else 2 * value >= point.size


def first_call(point: Point, name: str) -> float | Na:
    """A figure of the first operation of the process."""
    early = point.raw.get("first_ops")
    if point.status != "ok" or not early:
        return point.figure(name) if point.status != "ok" else Na("no first operation in the results")
    return Point(point.key, point.size, point.touch, "ok", "", early[0]).figure(name)


def ranked(points: list[Point], value: Value, least: float) -> dict[int, list[tuple[float, Key]]]:
    """The known values of each size, the least first. What is below `least` counts as that, as clocks tell 1 ns."""
    found: dict[int, list[tuple[float, Key]]] = {}
    for point in points:
        known = value(point)
        if not isinstance(known, Na):
            found.setdefault(point.size, []).append((max(known, least), point.key))
    return {size: sorted(every) for size, every in sorted(found.items())}


def calloc_ns(point: Point) -> float | Na:
    """Nanoseconds of one calloc."""
    return point.figure("calloc_ns", "median")


def taxes(results: Results) -> list[Tax]:
    """One entry for each allocator and configuration, from the untouched points of calloc_loop on the main thread."""
    names = full_names(results)
    points = [p for p in results.cases.get("calloc_loop", []) if p.touch == 0 and p.key.thread == "main"]
    ranks = ranked(points, calloc_ns, 1.0)
    found = []
    for key in sorted({p.key for p in points}, key=lambda key: (order(key.allocator), key)):
        own = sorted((p for p in points if p.key == key), key=lambda p: p.size)
        answers = [(p, half(p, p.figure("redundant_zeroed_bytes"))) for p in own]
        known = [(p, paid) for p, paid in answers if paid is not None]
        early = [(p, half(p, first_call(p, "redundant_zeroed_bytes"))) for p in own]
        times = [(p.size, value) for p in own for value in [calloc_ns(p)] if not isinstance(value, Na)]
        compared = [
            Dearest(size, max(value, 1.0), names[ranks[size][0][1]], ranks[size][0][0]) for size, value in times
        ]
        others = [place for place in compared if len(ranks[place.size]) > 1]
        found.append(
            Tax(
                key,
                names[key],
                [p.size for p, _ in known],
                len(own) - len(known),
                spans([p.size for p, _ in known], [bool(paid) for _, paid in known]),
                spans([p.size for p, _ in early], [bool(paid) for _, paid in early]),
                spans(
                    [place.size for place in compared],
                    [place.ratio() >= SLOW and place.value >= NOTICED for place in compared],
                ),
                max(compared, key=lambda place: place.value, default=None),
                max(others, key=lambda place: place.ratio(), default=None),
            )
        )
    return found


def furthest_apart(
    points: list[Point], value: Value, least: float = 1.0
) -> tuple[int, tuple[float, Key], tuple[float, Key]] | None:
    """The size at which two lines are furthest apart, with the least and the most there; None if there is none."""
    best = None
    for size, every in ranked(points, value, least).items():
        if len(every) > 1 and (best is None or every[-1][0] / every[0][0] > best[2][0] / best[1][0]):
            best = (size, every[0], every[-1])
    return best


def link(
    figure: str,
    case: str = "calloc_loop",
    touch: float = 0.0,
    thread: str = "main",
    size: int | None = None,
    **more: str,
) -> str:
    """The fragment that shows this in a figure of the page, its cursor at `size` bytes."""
    state = {"case": case, "touch": f"{touch:g}", "thread": thread, **more}
    if size is not None:
        state["at"] = str(size)
    return "#" + urlencode({**state, "go": figure})
