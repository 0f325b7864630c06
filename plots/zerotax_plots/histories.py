"""Reads the histories of several allocators from one folder, which has an output folder of `zerotax history --out` for
each allocator.
"""

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
# Maximum time by which the releases of several lines may be out of order. A fix is released in every line on nearby
# days.
ROUND = timedelta(days=90)


def load_all(source: str | Path) -> Results:
    """Loads the histories below a folder, as a run without points. Raises ResultsError if there are none."""
    files = sorted(Path(source).glob(f"*/{FILE}"))
    documents = [document for document in (read_document(file, SCHEMA, REMEDY) for file in files) if "allocator" in document]
    if not documents:
        raise ResultsError(f"{source}: contains no folder with a {FILE} of an allocator; {REMEDY}")
    documents.sort(key=lambda document: order(document["allocator"]))
    return Results(Path(source), {"histories": documents}, [])


def word_at(version: Version, size: int) -> str | None:
    """Returns what calloc of this size does in a version; None if this size was not measured."""
    return next((piece["word"] for piece in version.get("pieces", []) if piece["from_bytes"] <= size <= piece["to_bytes"]), None)


def short(name: str) -> str:
    """Returns the version number of a name: "2.2.7" for "v2.2.7", "2.8" for "gperftools-2.8"."""
    return re.sub(r"^\D+", "", name) or name


def lines_of(versions: list[Version], most: int) -> list[list[Version]]:
    """Splits versions into lines of releases with at most `most` versions each. Releases of an older line that is still
    maintained precede the first release of a newer line, even if their dates are later.
    """
    parts: list[list[Version]] = []
    before = date.min
    for version in versions:
        when = date.fromisoformat(version["date"][:10])
        if not parts or len(parts[-1]) == most or before - when > ROUND:
            parts.append([])
        parts[-1].append(version)
        before = when
    return parts
