"""The statements of the command about a run and its points, from summary.json or the command, and the words around a
figure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from zerotax_plots.command import ask
from zerotax_plots.documents import read_document
from zerotax_plots.files import ResultsError
from zerotax_plots.results import SCHEMA as RUN, Key, Na, Point, Results
from zerotax_plots.units import counted_text, plain_text

FILE, SCHEMA = "summary.json", "zerotax.summary/1"
Place = tuple[Key, str, int, float]   # line, case, size in bytes, touch
Rows = dict[Place, dict[str, Any]]


def given_as(source: Path) -> Path:
    """Returns the path with which a user names this file: for a run.json, its folder."""
    return source.parent if source.name == "run.json" else source


def summary_of(source: Path, zerotax: Path | None = None) -> dict[str, Any] | None:
    """Returns the summary of the run in this file (run.json, or the file of `zerotax run --json`). None if there is no
    summary and no command to make one. A summary of an earlier version may lack keys that are read here; the command,
    if available, makes such a summary again. Raises ResultsError if the summary is unusable.
    """
    given = given_as(source)
    beside = source.parent / FILE
    if source.name != "run.json" or not beside.is_file():
        return ask(given, "findings", str(given), "--summary", given=zerotax)
    found = read_document(beside, SCHEMA, f"write it again: `zerotax findings {given} --summary --json {beside}`")
    if "unfinished" in found["run"] and "ranking" in found:
        return found
    try:
        return ask(given, "findings", str(given), "--summary", given=zerotax) or found
    except ResultsError:
        return found


def known(source: Path) -> dict[str, Any]:
    """Returns the summary, or an empty summary, so that a figure without a summary is still drawn."""
    try:
        return summary_of(source) or {}
    except ResultsError:
        return {}


def touch_heading(results: Results, touch: float) -> str:
    """Returns the heading of a touched fraction. If the summary has words for the fraction, the heading contains these
    words.
    """
    name = plain_text(touch)
    words = known(results.source).get("touches", {}).get(name)
    return f"touch {name}: the program writes {words}" if words else f"touch {name}"


def rows_of(document: dict[str, Any]) -> Rows:
    """Returns the statements of a summary on each point, by column. "kinds" contains lines about calls that are not
    alike. Empty without a summary.
    """
    if "points" not in document:
        return {}
    keys = [(each["allocator"], tuple(sorted(each["env"].items())), each["preload"]) for each in document["allocators"]]
    names = document["points"]["key"] + document["points"]["columns"]
    kinds = {each["row"]: each["kinds"] for each in document.get("unlike_calls", [])}
    found = {}
    for place, values in enumerate(document["points"]["rows"]):
        row = {**dict(zip(names, values)), "kinds": kinds.get(place, [])}
        allocator, env, preload = keys[row["allocator"]]
        found[Key(allocator, env, row["thread"], preload), row["case"], row["size_bytes"], float(row["touch"])] = row
    return found


def said_of(rows: Rows, name: str) -> Callable[[Point], float | Na]:
    """Returns a function that looks up the summary's value for a point in the column with this name."""
    def value(point: Point) -> float | Na:
        if point.status != "ok":
            return point.figure(name)
        found = rows.get((point.key, point.raw["case"], point.size, point.touch), {}).get(name)
        if isinstance(found, dict):
            return Na(found["na"])
        return Na(f"no {name} in a summary") if found is None else float(found)

    return value


def said(results: Results, name: str) -> Callable[[Point], float | Na]:
    """Returns the function said_of() for the summary of this run."""
    return said_of(rows_of(known(results.source)), name)


def subtitle(results: Results) -> list[str]:
    """Returns machine, kernel and date, then versions, from the run. Unknown values are left out."""
    run = results.run
    cpus, thp = results.environment("cpus"), results.environment("thp")
    kernel = results.environment("kernel")
    parts = [f"Linux {kernel}" if kernel else None, results.environment("cpu"),
             counted_text(cpus, "CPU") if isinstance(cpus, int) and cpus else None,
             f"THP {thp}" if thp else None, str(run.get("started", ""))[:10] or None,
             f"zerotax {run['zerotax_version']}" if run.get("zerotax_version") else None]
    versions: dict[str, None] = {}
    for allocator in run.get("allocators", []):
        version = allocator.get("version")
        name = str(allocator.get("name", ""))
        versions[f"{name} {version}" if isinstance(version, str) else name] = None
    return [" · ".join(str(part) for part in parts if part), " · ".join(versions)]


def unfinished(results: Results) -> list[str]:
    """Returns a footnote if the run is not complete."""
    if results.run.get("schema") != RUN:
        return []   # the document is not a run
    text = known(results.source).get("run", {}).get("unfinished")
    return [text] if isinstance(text, str) else []
