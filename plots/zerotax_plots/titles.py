"""The titles of the figures that are drawn from points: the content of each figure, in one sentence."""

from __future__ import annotations

from typing import Iterable

from zerotax_plots.looks import labels
from zerotax_plots.results import Na, Point, Results
from zerotax_plots.summary import known, rows_of
from zerotax_plots.units import given_size_text, rate_text, size_text, time_text

# Limits of names, and of characters in all names. Beyond a limit, a title has the number of names instead.
MOST_NAMES, MOST_CHARS = 3, 40
HEADLINE_SIZES = (1000 << 20, 100 << 20)
Ranked = list[tuple[float, str]]


def _ranked(results: Results, points: Iterable[Point], value: tuple[str, ...]) -> Ranked:
    """Returns each point's value with the name of the line, smallest value first. Points without a value are left out.
    """
    names = labels(results.series())
    found = [(point.figure(*value), names[point.key]) for point in points if point.status == "ok"]
    return sorted((number, name) for number, name in found if not isinstance(number, Na))


def _largest_shared(results: Results) -> list[Point]:
    """Returns the points of the largest size that at least two lines share, at the smallest touched fraction."""
    touch = min(results.touches(), default=0.0)
    sizes: dict[int, list[Point]] = {}
    for point in results.points:
        if point.status == "ok" and point.touch == touch:
            sizes.setdefault(point.size, []).append(point)
    return sizes[max(shared)] if (shared := [size for size, of in sizes.items() if len(of) > 1]) else []


def _calloc(point: Point) -> str:
    return f"{'an untouched' if point.touch == 0 else 'a'} calloc of {size_text(point.size)}"


def _times(results: Results, points: list[Point]) -> str | None:
    ranked = _ranked(results, points, ("calloc_ns", "median"))
    if not ranked:
        return None
    ends = [f"{time_text(max(ns, 1.0))} with {name}" for ns, name in (ranked[0], ranked[-1])[:len(ranked)]]
    return f"A{_calloc(points[0])[1:]} takes {', '.join(ends)}"


def headline(results: Results) -> str | None:
    """Returns a title with the calloc times at the larger of HEADLINE_SIZES, or at the smaller if the larger was not
    measured.
    """
    touch = min(results.touches(), default=0.0)
    titles = (_times(results, [point for point in results.points if point.size == size and point.touch == touch])
              for size in HEADLINE_SIZES)
    return next((title for title in titles if title), None)


def times(results: Results) -> str | None:
    """Returns a title with the fastest and the slowest calloc at the largest size that at least two lines share."""
    points = _largest_shared(results)
    return _times(results, points) if len(_ranked(results, points, ("calloc_ns", "median"))) > 1 else None


def _doers(results: Results, where: str, does: dict[str, bool], one: str, several: str) -> str | None:
    """Names the allocators that `does` marks: "In an untouched calloc of 1 GiB, …". None if `does` marks no allocator,
    or if a part of the block was touched.
    """
    points = _largest_shared(results)
    names = sorted(name for name, yes in does.items() if yes)
    if not names or not points or points[0].touch != 0:
        return None
    text = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    if len(names) > MOST_NAMES or sum(map(len, names)) > MOST_CHARS:
        text = f"{len(names)} of {len(does)}" if len(names) < len(does) else f"all {len(does)}"
    return f"{where} {_calloc(points[0])}, {text} {one if len(names) == 1 else several}"


def faults(results: Results) -> str | None:
    """Names the allocators that fault in every page. A twentieth of the faults may be missing, because some allocators
    write a header into the block.
    """
    names, page, does = labels(results.series()), results.page_bytes(), {}
    for point in _largest_shared(results):
        count = point.figure("calloc_faults")
        if not isinstance(count, Na):
            pages = point.size // page
            does[names[point.key]] = pages > 0 and (pages - count) * 20 <= pages
    return _doers(results, "Inside", does, "faults in every page", "fault in every page")


def zeroed(results: Results) -> str | None:
    """Names the allocators that write zeros over zeros, as judged by the summary."""
    names, rows, does = labels(results.series()), rows_of(known(results.source)), {}
    for point in _largest_shared(results):
        answer = rows.get((point.key, point.raw["case"], point.size, point.touch), {}).get("redundant")
        if answer in ("yes", "no"):
            does[names[point.key]] = answer == "yes"
    return _doers(results, "In", does, "writes zeros over zeros", "write zeros over zeros")


def forks(results: Results) -> str | None:
    """Returns a title with the fastest and the slowest fork with the largest block."""
    largest = max((point.size for point in results.points), default=0)
    points = [point for point in results.points if point.size == largest and point.touch == 0]
    ranked = _ranked(results, points, ("fork", "fork_ns", "median"))
    if len(ranked) < 2:
        return None
    ends = ", ".join(f"{time_text(ns)} under {name}" for ns, name in (ranked[0], ranked[-1]))
    return f"With {size_text(largest)} from calloc that nobody wrote, fork takes {ends}"


def receiving(results: Results) -> str | None:
    """Returns a title with the best and the worst rate, at the size where they differ most. The rates are those of TCP
    if TLS was not measured.
    """
    for case in ("recv_buffer", "recv_buffer_tcp"):
        shown = results.of_case(case)
        sizes = sorted({point.size for point in shown.points})
        ranked = [(size, _ranked(shown, [p for p in shown.points if p.size == size and p.touch == 0],
                                 ("transfer", "mb_per_s"))) for size in sizes]
        apart = [(of[-1][0] / max(of[0][0], 1e-6), size, of) for size, of in ranked if len(of) > 1]
        if apart:
            _, size, of = max(apart)
            ends = ", ".join(f"{rate_text(rate)} with {name}" for rate, name in (of[-1], of[0]))
            return f"Received into buffers of {given_size_text(size)}: {ends}"
    return None
