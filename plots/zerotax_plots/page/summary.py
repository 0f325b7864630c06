"""The summary of a run, as `zerotax` judged the run. Nothing is judged here."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from zerotax_plots.files import ResultsError
from zerotax_plots.page.facts import link
from zerotax_plots.summary import given_as, summary_of

PARTS = ("warning", "broken", "lead", "for_whom", "each")


class Sentence(NamedTuple):
    """A finding, the allocator or audience that it concerns, and the fragment of the page that shows it, if any."""

    subject: str
    text: str
    href: str | None = None
    command: str | None = None  # command that measures a missing part


def fragment(target: dict[str, Any] | None) -> str | None:
    """Returns the fragment of the page for a sentence's link."""
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


def summary(source: Path, zerotax: Path | None = None) -> dict[str, Any]:
    """Returns the sentences of the summary by part, the headline with its size ("at"), and the words that the sentences
    use. Without a summary, returns the reason as "missing". "document" is the whole summary, or None.
    """
    told: dict[str, Any] = {part: [] for part in PARTS}
    told.update(missing="", headline="What zeroing memory costs", at=None, coverage="", words={}, document=None)
    try:
        document = summary_of(source, zerotax)
    except ResultsError as error:
        return {**told, "missing": f"No summary: {error}"}
    if document is None:
        return {**told, "missing": f"No summary: run `zerotax findings {given_as(source)} --summary`."}
    headline = None
    for each in document["sentences"]:
        if each["part"] in ("coverage", "headline"):
            told[each["part"]] = each["text"]
        else:
            told[each["part"]].append(Sentence(each["subject"], each["text"], fragment(each.get("link")), each.get("command")))
        if each["part"] == "headline":
            told["at"] = (each.get("link") or {}).get("size_bytes")
            headline = fragment(each.get("link"))
    # A sentence that links to the same place as the headline would repeat the headline, so it is left out.
    told["lead"] = [each for each in told["lead"] if each.href is None or each.href != headline]
    told.update(words=document["words"], document=document)
    return told
