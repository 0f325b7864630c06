"""docs/history.md: the releases that changed what calloc does, and the commits that bisections named."""
from __future__ import annotations

import json
from typing import Any, NamedTuple

from reference_text import REFERENCE, rows_table
from zerotax_plots.histories import Version, lines_of, load_all, short, word_at
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


def changes_of(document: dict[str, Any], line: list[Version]) -> list[str]:
    """"2.2.6 to 2.2.7, 100 MiB: zeroes needlessly → writes no zeros"."""
    sizes: dict[tuple[tuple[str, str], tuple[str, str]], list[str]] = {}
    for turn in turns_of(document, line):
        sizes.setdefault((turn.between, turn.words), []).append(size_text(turn.size))
    return [f"{' to '.join(between)}, {', '.join(at)}: {document['words'][old]} → {document['words'][new]}"
            for (between, (old, new)), at in sizes.items()]


def releases_block() -> str:
    """A row for each line of releases."""
    rows = []
    for document in load_all(YEARS).run["histories"]:
        for versions in measured_lines(document):
            first, last = short(versions[0]["name"]), short(versions[-1]["name"])
            span = f"{first} to {last} ({len(versions)})" if len(versions) > 1 else first
            rows.append([f"{document['allocator']} {span}", "; ".join(changes_of(document, versions)) or "never"])
    return rows_table(["releases", "later callocs change"], rows)


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
        rows.append([found["allocator"], " and ".join(ends),
                     f"{size}: {first['before']['value']}; then {first['value'].rsplit(' is ', 1)[-1]}",
                     f"[{commit['commit'][:8]}](../{file.with_suffix('.txt').relative_to(REFERENCE.parents[1])}): "
                     f"{commit['subject']}"])
    return rows_table(["allocator", "between", "from … to", "commit"], rows)


BLOCKS = {"results/reference/years": releases_block, "results/reference/years bisect": commits_block}
