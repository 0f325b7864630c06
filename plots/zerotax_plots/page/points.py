"""The points of a run as columns of numbers, small enough to embed in a page. The figures of the page are drawn from
these columns.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from zerotax_plots.looks import FILLS, darker, labels, order, styles
from zerotax_plots.page.facts import Value, first_call
from zerotax_plots.results import Key, Na, Point, Results
from zerotax_plots.summary import Rows, said_of


class Figure(NamedTuple):
    """A column: its name, its unit, and the location of its value in a point, or the name of the value in the summary's
    statements on the point.
    """

    key: str
    name: str
    unit: str  # time (ns), bytes, count, rate (MB/s) or share (of the block)
    value: Value | str


def _of(*path: str) -> Value:
    return lambda point: point.figure(*path)


def _first(name: str) -> Value:
    return lambda point: first_call(point, name)


FIGURES = [
    Figure("calloc_ns", "time of one calloc", "time", _of("calloc_ns", "median")),
    Figure("calloc_p05", "5th percentile of calloc", "time", _of("calloc_ns", "p05")),
    Figure("calloc_p95", "95th percentile of calloc", "time", _of("calloc_ns", "p95")),
    Figure("whole_ns", "time of calloc + touch + free", "time", "operation_ns"),
    Figure("free_ns", "time of one free", "time", _of("free_ns", "median")),
    Figure("zero_ns", "time spent writing zeros", "time", _of("zero_ns")),
    Figure("first_ns", "time of the first calloc of a process", "time", _first("calloc_ns")),
    Figure("calloc_faults", "page faults inside calloc", "count", _of("calloc_faults")),
    Figure("whole_faults", "page faults in calloc + touch + free", "count", "operation_faults"),
    Figure("first_faults", "page faults in the first calloc of a process", "count", _first("calloc_faults")),
    Figure("zeroed", "bytes zeroed by calloc", "bytes", _of("zeroed_bytes")),
    Figure("redundant", "bytes zeroed that were zero already", "bytes", _of("redundant_zeroed_bytes")),
    Figure("populated", "bytes that calloc itself populated", "bytes", _of("populated_bytes")),
    Figure("first_redundant", "the same in the first calloc of a process", "bytes", _first("redundant_zeroed_bytes")),
    Figure("mb_per_s", "megabytes received per second", "rate", _of("transfer", "mb_per_s")),
    Figure("fork_ns", "time of fork()", "time", _of("fork", "fork_ns", "median")),
    Figure("redundant_share", "share of the block zeroed though it was zero", "share", "redundant_share"),
    Figure("zeroed_share", "share of the block zeroed by calloc", "share", "zeroed_share"),
]


# The first metric of each figure of the page, and the metric of the heat map. These metrics are included even if no
# point has a value.
ALWAYS = ("calloc_ns", "calloc_faults", "zeroed", "redundant", "redundant_share")


def slim(raw: Any) -> None:
    """Removes from a point everything that no figure of the page uses. Early operations make up most of the size."""
    early = raw.get("first_ops")
    if isinstance(early, list):
        raw["first_ops"] = early[:1]


def contrasting(colour: str, ground: str = "#15181b", least: float = 4.5) -> str:
    """Returns the color, lightened until its contrast with the dark background reaches the limit (WCAG 2)."""

    def channels(text: str) -> list[float]:
        return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]

    def luminance(parts: list[float]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark = luminance(channels(ground))
    for step in range(101):
        mixed = [c + (1 - c) * step / 100 for c in channels(colour)]
        if (luminance(mixed) + 0.05) / (dark + 0.05) >= least:
            return "#" + "".join(f"{round(c * 255):02X}" for c in mixed)
    return "#FFFFFF"


def unthreaded(key: Key) -> Key:
    """Returns the line to which a point belongs in the page, which has one view for each thread."""
    return key._replace(thread="main")


def series_of(results: Results) -> dict[Key, dict[str, Any]]:
    """Returns the name and style of each line, known allocators first. Every other figure uses the same style."""
    keys = sorted(
        {unthreaded(point.key) for points in results.cases.values() for point in points},
        key=lambda key: (order(key.allocator), key),
    )
    by_name, named = styles({key.allocator for key in keys}), labels(keys)
    seen: dict[str, int] = {}
    made = {}
    for key in keys:
        style, variant = by_name[key.allocator], seen.get(key.allocator, 0)
        seen[key.allocator] = variant + 1
        dash = [] if style.dash == "-" else [round(2 * part, 1) for part in style.dash[1]]
        dark = contrasting(style.colour)
        made[key] = {
            "name": named[key],
            "allocator": key.allocator,
            "colour": style.colour,
            "dark": dark,
            "rim": darker(style.colour),
            "marker": style.marker,
            "dash": dash,
            "fill": FILLS[variant % len(FILLS)],
        }
    return made


class Words:
    """Texts by number. A reason why a metric is missing occurs in many points, but there are few different reasons."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, text: str) -> int:
        """Returns the number of this text."""
        return self.places.setdefault(text, len(self.places))


def _number(value: float | Na, reasons: Words) -> float | int:
    """Returns the value, whole or with six digits. A missing value is the number of its reason, from -1 downward."""
    if isinstance(value, Na):
        return -1 - reasons.place(f"{value.kind}: {value.why}")
    return int(value) if value == int(value) else float(f"{value:.6g}")


def columns(results: Results, rows: Rows) -> dict[str, Any]:
    """Returns the points in groups of one case, touch, thread and line, each by ascending size.

    `rows` contains the summary's statements on each point.
    """
    value_of = {f.key: said_of(rows, f.value) if isinstance(f.value, str) else f.value for f in FIGURES}
    series = series_of(results)
    index = {key: n for n, key in enumerate(series)}
    cases = sorted(results.cases, key=lambda case: (case != "calloc_loop", case))
    reasons, groups = Words(), []
    sizes: list[int] = []
    status: dict[int, int] = {}  # reason's number, by index of a point that is not ok
    kinds: dict[int, list[str]] = {}  # a line for each kind of call, by index of a point whose calls are not alike
    values: dict[str, list[float | int]] = {figure.key: [] for figure in FIGURES}

    def where(point: Point) -> tuple[float, str, int, int]:
        return point.touch, point.key.thread, index[unthreaded(point.key)], point.size

    for c, case in enumerate(cases):
        for point in sorted(results.cases[case], key=where):
            group = [c, *where(point)[:3]]
            if not groups or groups[-1][:4] != group:
                groups.append([*group, len(sizes), len(sizes)])
            groups[-1][5] += 1
            if point.status != "ok":
                status[len(sizes)] = _number(point.figure("calloc_ns"), reasons)
            if lines := rows.get((point.key, case, point.size, point.touch), {}).get("kinds"):
                kinds[len(sizes)] = lines
            sizes.append(point.size)
            for key, value in value_of.items():
                values[key].append(_number(value(point), reasons))
    absent = {key for key, column in values.items() if all(value < 0 for value in column)}
    return {
        "series": list(series.values()),
        "cases": cases,
        "groups": groups,
        "sizes": sizes,
        "status": status,
        "kinds": kinds,
        "figures": [
            {"key": f.key, "name": f.name, "unit": f.unit, "values": values[f.key]}
            for f in FIGURES
            if f.key not in absent or f.key in ALWAYS
        ],
        "reasons": list(reasons.places),
    }


def failures(results: Results, name: Callable[[Key], str]) -> list[dict[str, Any]]:
    """Returns every point that is not ok, with its status and reason."""
    every = [point for case in sorted(results.cases) for point in results.cases[case] if point.status != "ok"]
    return [
        {
            "name": name(point.key),
            "case": point.raw["case"],
            "size": point.size,
            "touch": point.touch,
            "thread": point.key.thread,
            "status": point.figure("").kind,
            "reason": point.figure("").why,
        }
        for point in every
    ]
