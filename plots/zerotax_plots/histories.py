"""The histories of several allocators: a folder that has a folder of `zerotax history --out` for each."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from zerotax_plots.documents import read_document
from zerotax_plots.files import ResultsError
from zerotax_plots.looks import order
from zerotax_plots.results import Results

FILE, SCHEMA = "history.json", "zerotax.history/1"
REMEDY = "run `zerotax history --json history.json`"
Version = dict[str, Any]
# Corrections of several releases, made on days near each other, in any order.
ROUND = timedelta(days=90)


def load_all(source: str | Path) -> Results:
    """The histories below a folder, as a run without points; raises ResultsError without any."""
    files = sorted(Path(source).glob(f"*/{FILE}"))
    documents = [document for document in (read_document(file, SCHEMA, REMEDY) for file in files) if "allocator" in document]
    if not documents:
        raise ResultsError(f"{source}: no folder in it has a {FILE} of an allocator; {REMEDY}")
    documents.sort(key=lambda document: order(document["allocator"]))
    return Results(Path(source), {"histories": documents}, [])


def word_at(version: Version, size: int) -> str | None:
    """What calloc of this size does; None where that was not measured."""
    return next((piece["word"] for piece in version.get("pieces", []) if piece["from_bytes"] <= size <= piece["to_bytes"]), None)


def short(name: str) -> str:
    """"2.2.7" of "v2.2.7", "2.8" of "gperftools-2.8"."""
    return re.sub(r"^\D+", "", name) or name


def lines_of(versions: list[Version], most: int) -> list[list[Version]]:
    """Releases of an older line that is still maintained come before the first of a newer one: there dates go back."""
    parts: list[list[Version]] = []
    before = date.min
    for version in versions:
        when = date.fromisoformat(version["date"][:10])
        if not parts or len(parts[-1]) == most or before - when > ROUND:
            parts.append([])
        parts[-1].append(version)
        before = when
    return parts
