"""The content of the page of `zerotax history`, taken from its JSON, with versions as the axis. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zerotax_plots.looks import Style
from zerotax_plots.page.comparison import counted, outcome
from zerotax_plots.page.documents import PIECES, line
from zerotax_plots.page.facts import line_of, number
from zerotax_plots.units import size_text

Part = dict[str, Any]
# The larger a size is, the darker is its color. Each size has a unique marker.
MARKERS = "os^DvPX<>dph*"
SHADES = ("#3B8FC7", "#2F6FAE", "#3E8A52", "#8A7F00", "#C85300", "#A9371F", "#7A2E6B", "#4B3A8C")


def _lanes(versions: list[Part]) -> list[Part]:
    """Returns a bar for each version that was measured, the newest first."""
    return [
        {
            "id": each["name"],
            "name": each["name"],
            "version": "",
            "label": each["date"][:10],
            "touch": 0,
            "thread": "main",
            "pieces": [[p["from_bytes"], p["to_bytes"] + 1, PIECES.get(p["word"], "unknown")] for p in each["pieces"]],
            "ticks": [],
            "changes": [],
        }
        for each in reversed(versions)
        if each.get("pieces")
    ]


def _total(value: Any) -> float | None:
    if isinstance(value, dict) and "na" not in value:
        return float(sum(value.values()))
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _chart(key: str, name: str, lines: list[Part], values: Iterable[list[float | None]]) -> Part:
    """Returns a chart of one metric by version. `values` contains the values of each line."""
    changed = any(len(set(ys) - {None}) > 1 for ys in values)
    return {"key": key, "name": name, "unit": "bytes" if key.endswith("_bytes") else "count", "lines": lines, "changed": changed}


def _view(name: str, charts: list[Part]) -> Part:
    return {"name": name, "charts": charts, "differs": any(chart["changed"] for chart in charts)}


def _sorted(views: list[Part]) -> list[Part]:
    """Sorts views so that those in which versions differ come first."""
    return sorted(views, key=lambda view: not view["differs"])


def _views(versions: list[Part]) -> list[Part]:
    """Returns charts of each metric by version, with a line for each size. Each case, touch and thread has separate
    charts.
    """
    values: dict[str, dict[str, dict[int, list[float | None]]]] = {}
    for place, version in enumerate(versions):
        for point in version.get("baseline", {}).get("points", []):
            name = line_of(point)
            for metric, value in point.items():
                total = _total(value) if metric.endswith(("_bytes", "_faults", "_syscalls")) else None
                if metric != "size_bytes" and total is not None:
                    lines = values.setdefault(name, {}).setdefault(metric, {})
                    lines.setdefault(point["size_bytes"], [None] * len(versions))[place] = total
    views = []
    for name, metrics in values.items():
        charts = []
        for metric, sizes in metrics.items():
            lines = []
            for n, (size, ys) in enumerate(sorted(sizes.items())):
                style = Style(SHADES[n % len(SHADES)], MARKERS[n % len(MARKERS)], "-")
                lines.append(line(size_text(size), style, [float(x) for x in range(len(versions))], ys))
            charts.append(_chart(metric, metric.replace("_", " "), lines, sizes.values()))
        views.append(_view(name, charts))
    return _sorted(views)


def _upper(value: Any) -> float | None:
    return number(value.get("high")) if isinstance(value, dict) else None


def _program_views(document: Part) -> list[Part]:
    """Returns charts by version of each metric of a command. If there are several processes, also returns charts of the
    processes' metrics. The values are the upper ends of the ranges of the runs.
    """
    versions = document["versions"]
    programs = [version.get("program", {}) for version in versions]
    processes = sorted({name for program in programs for name in program.get("processes", {})})
    sets = [("the command", [program.get("metrics", {}) for program in programs])]
    if len(processes) > 1:
        sets += [(name, [program.get("processes", {}).get(name, {}) for program in programs]) for name in processes]
    views = []
    for title, metrics in sets:
        charts = []
        for key, name in document["words"].items():
            ys = [_upper(each.get(key)) for each in metrics]
            style = Style(SHADES[0], MARKERS[0], "-")
            charts.append(_chart(key, name, [line(title, style, [float(x) for x in range(len(versions))], ys)], [ys]))
        views.append(_view(title, charts))
    return _sorted(views)


def _row(version: Part) -> Part:
    difference = version.get("difference") or {}
    verdict = difference.get("verdict", "same") if version["changed"] else "same"
    measured = version["state"] == "measured"
    return {
        "id": f"version-{version['name']}",
        "name": version["name"],
        "date": version["date"][:10],
        "subject": version["subject"],
        "sentence": version["sentence"].removeprefix(f"{verdict}: "),
        "lines": difference.get("changes", []),
        **(outcome(verdict if "compared_with" in version else "same") if measured else outcome("INVALID")),
        **({} if measured else {"outcome": version["state_words"]}),
        **({"outcome": "the first"} if measured and "compared_with" not in version else {}),
    }


def history_parts(document: Part) -> Part:
    """Returns the parts of the page of zerotax.history/1."""
    versions = document["versions"]
    of_program = "program" in document
    lanes = _lanes(versions)
    rows = [_row(each) for each in versions]
    return {
        "command": "zerotax history",
        "sentence": document["sentence"],
        "counts": counted(row for row in rows if row["outcome"] not in ("the first",)),
        "sides": [("repository", document["repository"]), ("versions", document["selection"])],
        "warnings": [] if document["state"] == "complete" else ["The history is interrupted: the same command again resumes it."],
        "notes": document["notes"],
        "groups": [],
        "views": _program_views(document) if of_program else _views(versions),
        "versions": list(reversed(rows)),
        "names": [each["name"] for each in versions],
        "map": {
            "lanes": lanes,
            "names": {kind: document["words"].get(word, word) for word, kind in PIECES.items()},
            "sentence": document["sentence"],
            "map": "What calloc does in each version",
            "pieces": True,
            "left": 150,
        }
        if lanes
        else None,
        "used": list(dict.fromkeys(piece[2] for lane in lanes for piece in lane["pieces"])),
        "outcome": "",
        "look": "",
    }
