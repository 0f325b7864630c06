"""Reads documents that zerotax wrote beside runs: one JSON document of one schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zerotax_plots.command import ask
from zerotax_plots.files import NothingToDraw, ResultsError, parse_json, read_text
from zerotax_plots.results import Results

# The commands that add missing statements to a file of an earlier version. With each: the keys that every file of this
# version contains.
JUDGES = {f"zerotax.{name}/1": name for name in ("thresholds", "fork", "snapshot", "cow")}
SAID = {"sentence", "notes"}


def read_document(path: Path, schema: str, remedy: str, zerotax: Path | None = None) -> dict[str, Any]:
    """Returns the object of a file. Raises ResultsError with `remedy` if the object does not have this schema.

    A file of an earlier version lacks sentences, notes or marks. The command (`zerotax`, or the one built here) adds
    them. Without a command, they stay missing.
    """
    try:
        document = parse_json(read_text(path))
    except ValueError as error:
        raise ResultsError(f"{path}: not JSON ({error}); measure again") from error
    its = document.get("schema") if isinstance(document, dict) else None
    if its != schema:
        raise ResultsError(f"{path}: its schema is {its!r}, but this figure needs {schema!r}; {remedy}")
    if schema not in JUDGES or SAID.issubset(document):
        return document
    try:
        return ask(path, JUDGES[schema], "--read", str(path), given=zerotax) or document
    except ResultsError:
        return document


def told(document: dict[str, Any], key: str = "sentence") -> str:
    """Returns a statement of the document, or "" if it is missing or unknown."""
    text = document.get(key)
    return text if isinstance(text, str) else ""


def notes_of(document: dict[str, Any]) -> list[str]:
    """Returns the notes that a reader of the document's figure needs, one sentence each. A file of an earlier version
    has no notes.
    """
    return [note for note in document.get("notes", []) if isinstance(note, str)]


def title_of(document: dict[str, Any], plain: str) -> str:
    """Returns the document's sentence as the title of a figure, or else `plain`, the title that names its axes."""
    return told(document, "title") or told(document).removesuffix(".") or plain


def load_document(source: str | Path, name: str, schema: str, remedy: str) -> Results:
    """Loads the file, or the file `name` in a folder, as a run without points."""
    path = Path(source)
    path = path / name if path.is_dir() else path
    return Results(path, read_document(path, schema, remedy), [])


def document_of(results: Results, name: str, schema: str, remedy: str) -> dict[str, Any]:
    """Returns the document that was loaded, or the file `name` in the folder of a run. Raises NothingToDraw if there is
    no such document.
    """
    if results.run.get("schema") == schema:
        return results.run
    folder = results.source if results.source.is_dir() else results.source.parent
    if not (folder / name).is_file():
        raise NothingToDraw(f"no {name} in {folder}; {remedy}")
    return load_document(folder, name, schema, remedy).run
