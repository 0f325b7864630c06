"""What zerotax says of the points of a run: summary.json, or what the command makes where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zerotax_command import ask
from zerotax_documents import read_document
from zerotax_files import ResultsError
from zerotax_results import Key, Results
from zerotax_units import plain_text

FILE, SCHEMA = "summary.json", "zerotax.summary/1"
Place = tuple[Key, str, int, float]   # line, case, size in bytes, touch


def given_as(source: Path) -> Path:
    """What a user gives to read this file: the folder of a run.json."""
    return source.parent if source.name == "run.json" else source


def summary_of(source: Path, zerotax: Path | None = None) -> dict[str, Any] | None:
    """The summary of the run in this file (run.json, or the file of `zerotax run --json`); None if there is none and
    no command to make it. Raises ResultsError when it is unusable.

    One of an earlier version, without what figures say, is made anew if there is a command.
    """
    given = given_as(source)
    beside = source.parent / FILE
    if source.name != "run.json" or not beside.is_file():
        return ask(given, "summary", str(given), given=zerotax)
    found = read_document(beside, SCHEMA, f"write it anew: `zerotax summary {given} --json {beside}`")
    if "figures" in found:
        return found
    try:
        return ask(given, "summary", str(given), given=zerotax) or found
    except ResultsError:
        return found


def _known(source: Path) -> dict[str, Any]:
    """The summary, or nothing: a figure is drawn without its words rather than not at all."""
    try:
        return summary_of(source) or {}
    except ResultsError:
        return {}


def figure_title(results: Results, figure: str, plain: str) -> str:
    """What the figure shows, or the title of its axes where nothing is said of it."""
    text = _known(results.source).get("figures", {}).get(figure, {}).get("title")
    return text if isinstance(text, str) else plain


def touch_heading(results: Results, touch: float) -> str:
    """What a touched fraction means, in words where there are any."""
    name = plain_text(touch)
    words = _known(results.source).get("touches", {}).get(name)
    return f"touch {name}: the program writes {words}" if words else f"touch {name}"


def shares(document: dict[str, Any]) -> dict[Place, dict[str, Any]]:
    """Of each point, the shares of its block that calloc zeroed ("zeroed_share"), and needlessly ("redundant_share")."""
    keys = [
        (each["allocator"], tuple(sorted(each["env"].items())), each["preload"]) for each in document["allocators"]
    ]
    names = document["points"]["key"] + document["points"]["columns"]
    found = {}
    for values in document["points"]["rows"]:
        row = dict(zip(names, values))
        allocator, env, preload = keys[row["allocator"]]
        place = Key(allocator, env, row["thread"], preload), row["case"], row["size_bytes"], float(row["touch"])
        found[place] = {name: row[name] for name in ("redundant_share", "zeroed_share") if name in row}
    return found
