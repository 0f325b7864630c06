"""The command's statements about the points of a run: from summary.json, or made by the command if that is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from zerotax_plots.command import ask
from zerotax_plots.documents import read_document
from zerotax_plots.files import ResultsError
from zerotax_plots.results import Key, Na, Point, Results
from zerotax_plots.units import plain_text

FILE, SCHEMA = "summary.json", "zerotax.summary/1"
Place = tuple[Key, str, int, float]   # line, case, size in bytes, touch
Rows = dict[Place, dict[str, Any]]


def given_as(source: Path) -> Path:
    """What a user gives to read this file: the folder of a run.json."""
    return source.parent if source.name == "run.json" else source


def summary_of(source: Path, zerotax: Path | None = None) -> dict[str, Any] | None:
    """The summary of the run in this file (run.json, or the file of `zerotax run --json`); None if there is none and
    no command to make it. Raises ResultsError when it is unusable.

    If the summary is of an earlier version and lacks keys that are read here, it is made again, if there is a command.
    """
    given = given_as(source)
    beside = source.parent / FILE
    if source.name != "run.json" or not beside.is_file():
        return ask(given, "findings", str(given), "--summary", given=zerotax)
    found = read_document(beside, SCHEMA, f"write it anew: `zerotax findings {given} --summary --json {beside}`")
    if "unfinished" in found["run"] and "ranking" in found:
        return found
    try:
        return ask(given, "findings", str(given), "--summary", given=zerotax) or found
    except ResultsError:
        return found


def known(source: Path) -> dict[str, Any]:
    """The summary, or nothing: a figure is drawn without its words rather than not at all."""
    try:
        return summary_of(source) or {}
    except ResultsError:
        return {}


def touch_heading(results: Results, touch: float) -> str:
    """The meaning of a touched fraction, in words if the summary has any."""
    name = plain_text(touch)
    words = known(results.source).get("touches", {}).get(name)
    return f"touch {name}: the program writes {words}" if words else f"touch {name}"


def rows_of(document: dict[str, Any]) -> Rows:
    """What a summary says of each point, by its columns, and as "kinds" the lines of calls that are not alike; nothing
    if there is no summary."""
    if "points" not in document:
        return {}
    keys = [
        (each["allocator"], tuple(sorted(each["env"].items())), each["preload"]) for each in document["allocators"]
    ]
    names = document["points"]["key"] + document["points"]["columns"]
    kinds = {each["row"]: each["kinds"] for each in document.get("unlike_calls", [])}
    found = {}
    for place, values in enumerate(document["points"]["rows"]):
        row = {**dict(zip(names, values)), "kinds": kinds.get(place, [])}
        allocator, env, preload = keys[row["allocator"]]
        found[Key(allocator, env, row["thread"], preload), row["case"], row["size_bytes"], float(row["touch"])] = row
    return found


def said_of(rows: Rows, name: str) -> Callable[[Point], float | Na]:
    """What the summary says of a point in the column of this name."""
    def value(point: Point) -> float | Na:
        if point.status != "ok":
            return point.figure(name)
        found = rows.get((point.key, point.raw["case"], point.size, point.touch), {}).get(name)
        if isinstance(found, dict):
            return Na(found["na"])
        return Na(f"no {name} in a summary") if found is None else float(found)

    return value


def said(results: Results, name: str) -> Callable[[Point], float | Na]:
    """The same of the summary of this run."""
    return said_of(rows_of(known(results.source)), name)
