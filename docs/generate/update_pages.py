#!/usr/bin/env python3
"""Puts the numbers of results/reference into README.md and the pages of docs, between their markers. The functions of
blocks_*.py make the blocks, QUOTES lists the texts to quote unchanged, and inline_numbers.py fills in numbers within sentences.

usage: docs/generate/update_pages.py [--check]     --check changes nothing, and exits with 1 if a page is out of date
"""
from __future__ import annotations

import importlib
import pathlib
import re
import sys
from typing import NamedTuple

from inline_numbers import with_numbers
from reference_text import BLOCKS, REFERENCE, ROOT, machine, reference   # this import puts plots/ on the path
from zerotax_plots.output import write


class Quote(NamedTuple):
    """A quoted text on a page."""
    page: str
    marker: str       # path in results/reference that marks the beginning of the block
    file: str         # path of the quoted file in results/reference; empty: the path of the marker
    end: str = ""     # regular expression; the quote ends before its match
    through: str = ""  # text in the last line of the quote
    more: str = ""    # line to add after the quote
    of: str = ""      # document that names the machine of the measurement


FOLDERS = r"(/\S*/)(?=build/lib/|numpy_rounds)|/tmp/[^/]*/"   # folders of the measuring machine
QUOTES = [
    Quote("README.md", "tour/run.txt", ""),
    Quote("README.md", "advise/numpy.out", ""),
    Quote("docs/record.md", "tour/record.txt", ""),
    Quote("docs/cow.md", "tour/cow.txt", "", end=r"\n\n"),
    Quote("docs/loop.md", "loop.json", "loop.txt", end=r"\n\n", of="loop.json"),
    Quote("docs/top.md", "production/top_before.txt", ""),
    Quote("docs/top.md", "production/record.txt", "", through="service.cc:24)", more="..."),
    Quote("docs/top.md", "production/top_after.txt", ""),
]


def quoted(quote: Quote) -> str:
    """Returns the quoted text in a fence, without the folders of the measuring machine."""
    text = (REFERENCE / (quote.file or quote.marker)).read_text(encoding="utf-8")
    if quote.end:
        text = re.split(quote.end, text, maxsplit=1, flags=re.MULTILINE)[0]
    if quote.through:
        text = text[:text.index("\n", text.index(quote.through))]
    text = re.sub(FOLDERS, lambda found: "" if found[1] else "./", text).rstrip()
    fenced = "\n".join(["```", text, *([quote.more] if quote.more else []), "```"])
    return f"{fenced}\n\n{machine(reference(quote.of))}" if quote.of else fenced


def with_block(page: str, marker: str, text: str) -> str:
    """Returns the page with the text between its markers replaced."""
    pattern = re.compile(rf"(<!-- {marker} -->\n).*?\n?<!-- end -->", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"a page has no markers '<!-- {marker} -->' and '<!-- end -->'")
    return pattern.sub(lambda found: f"{found.group(1)}{text}\n<!-- end -->", page)


def blocks() -> dict[str, dict[str, str]]:
    """Returns the generated texts of every page by marker. Only README.md and the pages of docs may be without such a
    text.
    """
    for script in sorted(pathlib.Path(__file__).parent.glob("blocks_*.py")):
        importlib.import_module(script.stem)
    pages = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")), *BLOCKS]
    texts = {page: {marker: text() for marker, text in BLOCKS.get(page, {}).items()} for page in pages}
    for quote in QUOTES:
        texts[quote.page][f"results/reference/{quote.marker}"] = quoted(quote)
    return texts


def main() -> int:
    """Writes or checks every page; returns the exit status."""
    status = 0
    for name, texts in blocks().items():
        path = ROOT / name
        page = updated = path.read_text(encoding="utf-8")
        for marker, text in texts.items():
            updated = with_block(updated, marker, text)
        updated = with_numbers(updated, path)
        if "--check" not in sys.argv[1:]:
            write(path, updated.encode(), lambda old: old.decode() == page)
        elif updated != page:
            print(f"{name} is not what results/reference says: run docs/generate/update_pages.py", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
