"""Reads what zerotax wrote: a results folder, or the file of `zerotax run --json`.

Only what drawing needs is checked here; `validate.py` checks a file against the whole schema.
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
    """A figure that could not be measured, and why; `kind` is what became of it."""

    why: str
    kind: str = "n/a"


class Key(NamedTuple):
    """What the points of one line of a figure have in common."""

    allocator: str
    env: tuple[tuple[str, str], ...]
    thread: str
    preload: str


@dataclass(frozen=True)
class Point:
    """One measured point. `size` is in bytes, `touch` a fraction from 0 to 1."""

    key: Key
    size: int
    touch: float
    status: str
    reason: str
    raw: dict[str, Any]

    def figure(self, name: str, *parts: str) -> float | Na:
        """The figure `name` in the unit of its suffix (ns, bytes; faults are a count).

        `parts` lead into it: "median", "p05" or "p95" of a spread of times, "child" and so on of a
        fork. A point that is not ok has no figures: what an allocator that broke its promise took
        for it compares with nothing.
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
    """A run: the object of run.json, and the points that figures are drawn from."""

    source: Path
    run: dict[str, Any]
    points: list[Point]
    cases: dict[str, list[Point]] = field(default_factory=dict)   # the points of every case

    def of_case(self, case: str) -> Results:
        """The same run with the points of another case; there may be none."""
        return Results(self.source, self.run, self.cases.get(case, []), self.cases)

    def environment(self, name: str) -> Any:
        """A field of the environment, or None when it was not available."""
        value = self.run.get("environment", {}).get(name)
        return None if isinstance(value, dict) else value

    def page_bytes(self) -> int:
        """Size of a page in bytes; 4096 when the run does not say."""
        return int(self.environment("page_bytes") or 4096)

    def touches(self) -> list[float]:
        """The fractions of pages written that were measured, ascending."""
        return sorted({point.touch for point in self.points})

    def series(self) -> list[Key]:
        """One key for each line to draw, in a fixed order."""
        return sorted({point.key for point in self.points})

    def of(self, key: Key, touch: float) -> list[Point]:
        """The points of one line in one panel, by ascending size."""
        return sorted((point for point in self.points if point.key == key and point.touch == touch),
                      key=lambda point: point.size)


def total(values: list[float | Na]) -> float | Na:
    """The sum, or the first reason why there is none: a sum without a term would be too small."""
    missing = [value for value in values if isinstance(value, Na)]
    return missing[0] if missing else float(sum(values))  # type: ignore[arg-type]


def _point(raw: Any, where: str) -> Point:
    """The point, or a ResultsError that names the place."""
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
    """Every point of the run with its place, from the run itself or from the file it names."""
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
    """Takes the times out of a point, and of its parts; what is counted stays."""
    for part in raw if isinstance(raw, list) else [raw]:
        if not isinstance(part, dict):
            continue
        for name, value in part.items():
            if name.endswith("_ns") or name in RATES:
                part[name] = {"na": why}
            elif isinstance(value, (dict, list)):
                _leave_out_times(value, why)


def _check_head(run: dict[str, Any], path: Path) -> None:
    """Raises ResultsError unless what the words of a figure are taken from has the right shape."""
    allocators = run.get("allocators", [])
    if not all(isinstance(run.get(name, {}), dict) for name in ("environment", "plan")) \
            or not isinstance(allocators, list) \
            or not all(isinstance(allocator, dict) for allocator in allocators):
        raise ResultsError(f"{path}: environment, plan or allocators has a wrong type; {REMEDY}")


def read_run(source: str | Path, slim: Callable[[Any], None] = lambda raw: None) -> Results:
    """A results folder or a `--json` file with the points of all cases, whatever became of them.

    Of points measured twice the later one counts. `slim` may take out of each point what is not needed.
    Raises ResultsError when it is unusable.
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
        raise ResultsError(f"{path}: its schema is {schema!r} and these plots read {SCHEMA!r}; "
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
    """Loads a results folder or a `--json` file; raises ResultsError when there is nothing to draw.

    The points are those of one case: calls of the others do other work, so their times do not belong
    on the same line.
    """
    results = read_run(source).of_case(case)
    if not any(point.status == "ok" for point in results.points):
        raise ResultsError(f"{results.source}: no point of the case {case} is ok, so there is nothing to "
                           f"draw; run `zerotax run --case {case} --size 100MiB`")
    return results
