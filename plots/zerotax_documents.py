"""Reads what zerotax wrote beside runs: one JSON document of one schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zerotax_files import NothingToDraw, ResultsError, parse_json, read_text
from zerotax_results import Results


def read_document(path: Path, schema: str, remedy: str) -> dict[str, Any]:
    """The object of a file; raises ResultsError with `remedy` when it is not of this schema."""
    try:
        document = parse_json(read_text(path))
    except ValueError as error:
        raise ResultsError(f"{path}: not JSON ({error}); measure again") from error
    its = document.get("schema") if isinstance(document, dict) else None
    if its != schema:
        raise ResultsError(f"{path}: its schema is {its!r} and this figure is of {schema!r}; {remedy}")
    return document


def load_document(source: str | Path, name: str, schema: str, remedy: str) -> Results:
    """The file, or the one of this name in a folder, as a run without points."""
    path = Path(source)
    path = path / name if path.is_dir() else path
    return Results(path, read_document(path, schema, remedy), [])


def document_of(results: Results, name: str, schema: str, remedy: str) -> dict[str, Any]:
    """The document itself, or the one of this name in the folder of a run; raises NothingToDraw without one."""
    if results.run.get("schema") == schema:
        return results.run
    folder = results.source if results.source.is_dir() else results.source.parent
    if not (folder / name).is_file():
        raise NothingToDraw(f"no {name} in {folder}; {remedy}")
    return load_document(folder, name, schema, remedy).run
