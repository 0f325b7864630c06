"""The blocks of pages that quote a text of results/reference."""
from __future__ import annotations

import re
from typing import NamedTuple

from reference_text import REFERENCE, machine, reference


class Quote(NamedTuple):
    """A block of a page."""
    page: str
    marker: str       # a path in results/reference, by which the block begins
    file: str         # a path in results/reference; empty: that of the marker
    end: str = ""     # a regular expression: the quote ends before its match
    through: str = ""  # the quote ends with the line that has this text
    more: str = ""    # a line to add after the quote
    of: str = ""      # the document that names the machine of the measurement


FOLDERS = r"(/\S*/)(?=build/lib/|numpy_rounds)|/tmp/[^/]*/"   # of the measuring machine: of no use to a reader
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
    """The quoted text in a fence, without the folders of the measuring machine."""
    text = (REFERENCE / (quote.file or quote.marker)).read_text(encoding="utf-8")
    if quote.end:
        text = re.split(quote.end, text, maxsplit=1, flags=re.MULTILINE)[0]
    if quote.through:
        text = text[:text.index("\n", text.index(quote.through))]
    text = re.sub(FOLDERS, lambda found: "" if found[1] else "./", text).rstrip()
    block = "\n".join(["```", text, *([quote.more] if quote.more else []), "```"])
    return f"{block}\n\n{machine(reference(quote.of), '../')}" if quote.of else block


def blocks_of_quotes() -> dict[str, dict[str, str]]:
    """The quoted texts of each page, by marker."""
    pages: dict[str, dict[str, str]] = {}
    for quote in QUOTES:
        pages.setdefault(quote.page, {})[f"results/reference/{quote.marker}"] = quoted(quote)
    return pages
