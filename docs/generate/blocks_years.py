"""docs/history.md: the commits that bisections named; what turned between two releases."""
from __future__ import annotations

import json
import textwrap
from typing import Any, NamedTuple

from reference_text import REFERENCE, rows_table
from zerotax_plots.histories import Version, lines_of, short, word_at
from zerotax_plots.units import size_text

PAGE = "docs/history.md"
YEARS = REFERENCE / "years"


class Turn(NamedTuple):
    """Later callocs of `size` changed from one word of the figure to another between two releases that follow one another."""

    between: tuple[str, str]
    size: int
    words: tuple[str, str]


def measured_lines(document: dict[str, Any]) -> list[list[Version]]:
    """The lines of releases, each without those that could not be built and measured."""
    lines = lines_of(document["versions"], len(document["versions"]))
    return list(filter(None, ([version for version in line if "pieces" in version] for line in lines)))


def turns_of(document: dict[str, Any], line: list[Version]) -> list[Turn]:
    """All of a line, oldest first, where both words are known."""
    turns = []
    for before, after in zip(line, line[1:]):
        for size in document["grid"]["sizes"]:
            old, new = (word_at(version, size) or "unknown" for version in (before, after))
            if old != new and "unknown" not in (old, new):
                turns.append(Turn((short(before["name"]), short(after["name"])), size, (old, new)))
    return turns


def commit_of(found: dict[str, Any]) -> dict[str, Any]:
    """The one that did it, also where a merge brought it."""
    first = next(found[key] for key in ("first_bad", "first_good") if "na" not in found[key])
    return first if "na" in found["origin"] else found["origin"]


def name_of(commit: dict[str, Any]) -> str:
    """Its release, or the first digits of its name."""
    return short(commit["tag"]) if isinstance(commit["tag"], str) else commit["commit"][:8]


def commits_block() -> str:
    """A row for each bisection."""
    rows = []
    for file in sorted(YEARS.glob("*/bisect-*.json")):
        found = json.loads(file.read_text(encoding="utf-8"))
        first = next(found[key] for key in ("first_bad", "first_good") if "na" not in found[key])
        ends = [name_of(found[key]) for key in (("good", "bad") if "na" in found["first_good"] else ("bad", "good"))]
        commit = commit_of(found)
        size = size_text(found["question"]["place"]["size_bytes"])
        metric, before = first["before"]["value"].rsplit(" is ", 1)
        assert metric.endswith("redundant_zeroed_bytes"), f"{file}: the table has no column for {metric}"
        rows.append([f"{found['allocator']} {' to '.join(ends)}", f"{'first ' * metric.startswith('first.')}{size}",
                     f"{before} → {first['value'].rsplit(' is ', 1)[-1]}",
                     f"[{commit['commit'][:8]}](../{file.with_suffix('.txt').relative_to(REFERENCE.parents[1])}): "
                     f"{textwrap.shorten(commit['subject'], 40, placeholder='…')}"])
    return rows_table(["releases", "calloc", "redundant zeroed bytes", "commit"], rows)


BLOCKS = {"results/reference/years bisect": commits_block}
