"""The summary of a run, as `zerotax` judged it: read from summary.json, or written by the command for a folder without
one. Nothing is judged here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from page.facts import link
from zerotax_documents import read_document
from zerotax_files import ResultsError

FILE, SCHEMA = "summary.json", "zerotax.summary/1"
PARTS = ("broken", "lead", "for_whom", "each")
BUILT = Path(__file__).resolve().parents[2] / "build" / "bin" / "zerotax"


class Sentence(NamedTuple):
    """What is found, whom it is about or for, and the fragment of the page that shows it, if one does."""

    subject: str
    text: str
    href: str | None = None


def fragment(target: dict[str, Any] | None) -> str | None:
    """The fragment of the page for a sentence's link."""
    if target is None:
        return None
    if "section" in target:
        return f"#{target['section']}"
    return link(
        target["figure"],
        target["case"],
        target["touch"],
        target["thread"],
        target.get("size_bytes"),
        **target.get("columns", {}),
    )


def made_by_command(source: Path, zerotax: Path | None) -> dict[str, Any] | None:
    """The summary of a run that has none beside it, by the command given, the one built beside these scripts, or the
    one on PATH; None without a command. Raises ResultsError when the command does not know it or refuses the run."""
    found = shutil.which("zerotax")
    command = zerotax or (BUILT if BUILT.is_file() else Path(found) if found else None)
    if command is None:
        return None
    given = source.parent if source.name == "run.json" else source
    try:
        done = subprocess.run(
            [command, "summary", given, "--json", "-"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ResultsError(f"{command} cannot be run ({error.strerror}); give another with --zerotax") from error
    if done.returncode != 0:
        raise ResultsError(f"`zerotax summary {given}` failed: {done.stderr.strip()}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def document_of(source: Path, zerotax: Path | None = None) -> dict[str, Any] | None:
    """The summary of the run in this file (run.json, or the file of `zerotax run --json`); None if there is none and
    no command to make it. Raises ResultsError when it is unusable."""
    beside = source.parent / FILE
    if source.name == "run.json" and beside.is_file():
        return read_document(beside, SCHEMA, f"write it anew: `zerotax summary {source.parent} --json {beside}`")
    return made_by_command(source, zerotax)


def summary(source: Path, zerotax: Path | None = None) -> dict[str, Any]:
    """The sentences of the summary by part, and the words that they use; or why there are none, as "missing"."""
    given = source.parent if source.name == "run.json" else source
    told: dict[str, Any] = {part: [] for part in PARTS}
    told.update(missing="", coverage="", words={})
    try:
        document = document_of(source, zerotax)
    except ResultsError as error:
        return {**told, "missing": f"No summary: {error}"}
    if document is None:
        return {**told, "missing": f"No summary: run `zerotax summary {given}`."}
    for each in document["sentences"]:
        if each["part"] == "coverage":
            told["coverage"] = each["text"]
        else:
            told[each["part"]].append(Sentence(each["subject"], each["text"], fragment(each.get("link"))))
    told["words"] = document["words"]
    return told
