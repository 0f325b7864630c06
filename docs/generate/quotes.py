"""Blocks that quote a text of results/reference: a row each."""
from __future__ import annotations

import re
from typing import NamedTuple

from reference_text import REFERENCE, machine, reference


class Quote(NamedTuple):
    """A block of a page."""
    page: str
    marker: str       # below results/reference; the block's begin
    file: str         # below results/reference; empty: the marker
    end: str = ""     # the quote ends where this matches
    through: str = ""  # the last line, or a part of it
    more: str = ""    # the lines after it
    of: str = ""      # the document that says on which machine it was measured


FOLDERS = r"(/\S*/)(?=build/lib/|numpy_rounds)|/tmp/[^/]*/"   # of the machine, which say nothing to a reader
QUOTES = [
    Quote("README.md", "tour/run.txt", ""),
    Quote("README.md", "advise/numpy.out", "", end=r"^Recorded:", more="..."),
    Quote("docs/record.md", "tour/record.txt", "", through="_PyEval_EvalFrameDefault", more="..."),
    Quote("docs/cow.md", "tour/cow.txt", "", end=r"\n\n"),
    Quote("docs/loop.md", "loop.json", "loop.txt", end=r"\n\n", of="loop.json"),
    *(Quote("docs/production.md", f"production/{name}.txt", "", end=end)
      for name, end in (("top_before", ""), ("record", "^Try next"), ("advise", "^tried:"), ("top_after", ""))),
]


def quoted(quote: Quote) -> str:
    """The text in a fence, without folders of the machine that mean nothing elsewhere."""
    text = (REFERENCE / (quote.file or quote.marker)).read_text(encoding="utf-8")
    if quote.end:
        text = re.split(quote.end, text, maxsplit=1, flags=re.MULTILINE)[0]
    if quote.through:
        text = text[:text.index("\n", text.index(quote.through))]
    text = re.sub(FOLDERS, lambda found: "" if found[1] else "./", text).rstrip()
    block = "\n".join(["```", text, *([quote.more] if quote.more else []), "```"])
    return f"{block}\n\n{machine(reference(quote.of), '../')}" if quote.of else block


def blocks_of_quotes() -> dict[str, dict[str, str]]:
    """For each page, the quoted text by marker."""
    pages: dict[str, dict[str, str]] = {}
    for quote in QUOTES:
        pages.setdefault(quote.page, {})[f"results/reference/{quote.marker}"] = quoted(quote)
    return pages
