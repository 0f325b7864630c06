"""docs/history.md: the releases that changed what calloc does, and the commits that bisections named."""
from __future__ import annotations

import json
from typing import Any

from reference_text import REFERENCE, rows_table
from zerotax_plots.histories import lines_of, load_all, short, word_at
from zerotax_plots.units import size_text

PAGE = "docs/history.md"
YEARS = REFERENCE / "years"


def measured_of(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that could be built and measured."""
    return [version for version in versions if "pieces" in version]


def changes_of(document: dict[str, Any], measured: list[dict[str, Any]]) -> list[str]:
    """"2.2.6 to 2.2.7, 100 MiB: zeroes needlessly → writes no zeros"; of later callocs, where both are known."""
    texts = []
    for before, after in zip(measured, measured[1:]):
        sizes: dict[tuple[str, str], list[str]] = {}
        for size in document["grid"]["sizes"]:
            old, new = (word_at(version, size) or "unknown" for version in (before, after))
            if old != new and "unknown" not in (old, new):
                sizes.setdefault((old, new), []).append(size_text(size))
        span = f"{short(before['name'])} to {short(after['name'])}"
        texts += [f"{span}, {', '.join(at)}: {document['words'][old]} → {document['words'][new]}"
                  for (old, new), at in sizes.items()]
    return texts


def releases_block() -> str:
    """A row for each line of releases."""
    rows = []
    for document in load_all(YEARS).run["histories"]:
        for line in lines_of(document["versions"], len(document["versions"])):
            versions = measured_of(line)
            if not versions:
                continue
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
