"""Reads what zerotax wrote: a results folder, or the file of `zerotax run --json`.

Checks only what drawing needs; `validate.py` checks a file against the whole schema.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

from zerotax_plots.files import ResultsError, parse_json, read_text, split_lines

SCHEMA = "zerotax.run/1"
CASE = "calloc_loop"
REMEDY = "python3 plots/validate.py shows every problem"
RATES = ("mb_per_s", "cpu_s_per_gb")
ENDED = {"not_zero": "not zero", "timeout": "timed out"}
IDENTITY = {"allocator": str, "case": str, "size_bytes": int, "touch": (int, float),
            "thread": str, "status": str, "env": dict}


class Na(NamedTuple):
    """A metric that could not be measured, and the reason. `kind` is how the point ended."""

    why: str
    kind: str = "n/a"


class Key(NamedTuple):
    """The properties that the points of one line of a figure share."""

    allocator: str
    env: tuple[tuple[str, str], ...]
    thread: str
    preload: str


@dataclass(frozen=True)
class Point:
    """One measured point. `size` is in bytes, and `touch` is a fraction from 0 to 1."""

    key: Key
    size: int
    touch: float
    status: str
    reason: str
    raw: dict[str, Any]

    def figure(self, name: str, *parts: str) -> float | Na:
        """Returns the metric `name` in the unit of its suffix (ns, bytes; faults are a count). `parts` are the keys
        within the metric: "median", "p05" or "p95" of a spread of times, or "child" and further keys of a fork. A point
        that is not ok has no metrics, because the metrics of an allocator that broke its promise are not comparable.
        """
        if self.status != "ok":
            return Na(self.reason or "no reason given", ENDED.get(self.status, self.status))
        value = self.raw.get(name, {"na": f"no {name} in the results"})
        for part in parts:
            if isinstance(value, dict) and "na" not in value:
                value = value.get(part, {"na": f"no {part} in {name}"})
        if isinstance(value, dict):
            return Na(str(value.get("na", f"{name} is not a number")))
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            return Na(f"{name} is not a number")
        return float(value)


@dataclass(frozen=True)
class Results:
    """A run: the object of run.json, and the points from which figures are drawn."""

    source: Path
    run: dict[str, Any]
    points: list[Point]
    cases: dict[str, list[Point]] = field(default_factory=dict)   # points of all cases

    def of_case(self, case: str) -> Results:
        """Returns the same run with the points of another case, possibly none."""
        return Results(self.source, self.run, self.cases.get(case, []), self.cases)

    def environment(self, name: str) -> Any:
        """Returns a field of the environment, or None if it was not available."""
        value = self.run.get("environment", {}).get(name)
        return None if isinstance(value, dict) else value

    def page_bytes(self) -> int:
        """Returns the page size in bytes; 4096 if the run does not state the page size."""
        return int(self.environment("page_bytes") or 4096)

    def touches(self) -> list[float]:
        """Returns the measured touches (fractions of pages written), ascending."""
        return sorted({point.touch for point in self.points})

    def series(self) -> list[Key]:
        """Returns one key for each line to draw, in a fixed order."""
        return sorted({point.key for point in self.points})

    def of(self, key: Key, touch: float) -> list[Point]:
        """Returns the points of one line in one panel, by ascending size."""
        return sorted((point for point in self.points if point.key == key and point.touch == touch),
                      key=lambda point: point.size)


def total(values: list[float | Na]) -> float | Na:
    """Returns the sum, or the first reason why a term is missing. A sum that left out a missing term would be too
    small.
    """
    missing = [value for value in values if isinstance(value, Na)]
    return missing[0] if missing else float(sum(values))  # type: ignore[arg-type]


def _point(raw: Any, where: str) -> Point:
    """Returns the parsed point. Raises ResultsError, with the place of the point, if the point is unusable."""
    if not isinstance(raw, dict):
        raise ResultsError(f"{where}: a point is a JSON object; {REMEDY}")
    for name, kind in IDENTITY.items():
        if not isinstance(raw.get(name), kind) or isinstance(raw.get(name), bool):
            raise ResultsError(f"{where}: no usable {name!r} in the point; {REMEDY}")
    if raw["size_bytes"] < 1:
        raise ResultsError(f"{where}: size_bytes must be at least 1; {REMEDY}")
    key = Key(raw["allocator"], tuple(sorted((k, str(v)) for k, v in raw["env"].items())),
              raw["thread"], raw.get("preload") or "")
    return Point(key, raw["size_bytes"], float(raw["touch"]), raw["status"],
                 raw.get("reason") or "", raw)


def _raw_points(path: Path, run: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yields every point of the run with its place for messages. The points are in the run itself, or in the file that
    the run names.
    """
    if isinstance(run.get("points"), list):
        yield from ((f"{path}: points[{n}]", raw) for n, raw in enumerate(run["points"]))
        return
    file = path.parent / Path(str(run.get("points_file", "points.jsonl"))).name
    lines, cut = split_lines(read_text(file))
    if cut is not None:
        print(f"warning: {file}:{cut}: the last line is cut short and was skipped "
              "(the run was stopped there, or is still going)", file=sys.stderr)
    for number, line in lines:
        try:
            yield f"{file}:{number}", parse_json(line)
        except ValueError as error:
            raise ResultsError(f"{file}:{number}: not JSON ({error}); delete the line, "
                               "or measure again") from error


def _leave_out_times(raw: Any, why: str) -> None:
    """Removes the times from a point and its parts, and keeps the counts."""
    for part in raw if isinstance(raw, list) else [raw]:
        if not isinstance(part, dict):
            continue
        for name, value in part.items():
            if name.endswith("_ns") or name in RATES:
                part[name] = {"na": why}
            elif isinstance(value, (dict, list)):
                _leave_out_times(value, why)


def _check_head(run: dict[str, Any], path: Path) -> None:
    """Raises ResultsError if the data for the words of a figure has the wrong shape."""
    allocators = run.get("allocators", [])
    if not all(isinstance(run.get(name, {}), dict) for name in ("environment", "plan")) \
            or not isinstance(allocators, list) \
            or not all(isinstance(allocator, dict) for allocator in allocators):
        raise ResultsError(f"{path}: environment, plan or allocators has a wrong type; {REMEDY}")


def read_run(source: str | Path, slim: Callable[[Any], None] = lambda raw: None) -> Results:
    """Returns a results folder or a `--json` file with the points of all cases, whatever their status.

    If a point was measured twice, the later one counts. `slim` may remove unneeded parts of each point. Raises
    ResultsError if the results are unusable.
    """
    path = Path(source)
    if not path.exists():
        raise ResultsError(f"{path}: no such results folder; run `zerotax study --out {path}`")
    path = path / "run.json" if path.is_dir() else path
    try:
        run = parse_json(read_text(path))
    except ValueError as error:
        raise ResultsError(f"{path}: not JSON ({error}); measure again") from error
    schema = run.get("schema") if isinstance(run, dict) else None
    if schema != SCHEMA:
        raise ResultsError(f"{path}: its schema is {schema!r}, but these plots read {SCHEMA!r}; "
                           "draw it with the plots of the zerotax version that wrote it")
    _check_head(run, path)
    comparable = run.get("comparable_times")
    left_out = comparable.get("left_out", {}) if isinstance(comparable, dict) else {}
    latest: dict[str, dict[tuple[Key, int, float], Point]] = {}
    for where, raw in _raw_points(path, run):
        point = _point(raw, where)
        if raw.get("host") in left_out:
            _leave_out_times(raw, f"measured on {raw['host']}, which is unlike the other hosts "
                                  f"({left_out[raw['host']]})")
        slim(raw)
        latest.setdefault(raw["case"], {})[point.key, point.size, point.touch] = point
    return Results(path, run, [], {name: list(points.values()) for name, points in latest.items()})


def load(source: str | Path, case: str = CASE) -> Results:
    """Loads a results folder or a `--json` file. Raises ResultsError if there is nothing to draw. The points are those
    of one case. Calls of other cases do other work, so the times of other cases do not belong on the same line.
    """
    results = read_run(source).of_case(case)
    if not any(point.status == "ok" for point in results.points):
        raise ResultsError(f"{results.source}: no point of the case {case} is ok, so there is nothing to "
                           f"draw; run `zerotax run --case {case} --size 100MiB`")
    return results
