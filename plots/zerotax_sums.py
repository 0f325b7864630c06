"""Sums of figures of a point: the whole operation, from calloc to free."""

from __future__ import annotations

from zerotax_results import Na, Point, total


def whole_time(point: Point) -> float | Na:
    """Nanoseconds for calloc, touch and free: the sum of the medians.

    With touch 0 there is nothing to write, so the time of writing may be missing.
    """
    touching = point.figure("touch_ns", "median")
    if point.touch == 0 and isinstance(touching, Na) and point.status == "ok":
        touching = 0.0
    return total([point.figure("calloc_ns", "median"), touching,
                  point.figure("free_ns", "median")])


def whole_faults(point: Point) -> float | Na:
    """Page faults in calloc, touch and free; with touch 0 those of touching may be missing."""
    touching = point.figure("touch_faults")
    if point.touch == 0 and isinstance(touching, Na) and point.status == "ok":
        touching = 0.0
    return total([point.figure("calloc_faults"), touching, point.figure("free_faults")])
