"""docs/history.md: the commits that bisections of allocators named."""
from __future__ import annotations

import json
from typing import Any

from reference_text import REFERENCE, rows_table
from zerotax_plots.histories import short
from zerotax_plots.units import size_text

PAGE = "docs/history.md"
YEARS = REFERENCE / "years"


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


BLOCKS = {"results/reference/years bisect": commits_block}
