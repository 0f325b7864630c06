#!/usr/bin/env python3
"""Puts the numbers of results/reference into README.md and the pages of docs, between their markers. Each
docs/generate/blocks_*.py has the BLOCKS of its PAGE, by marker. quotes.py has the texts that are quoted unchanged, and
inline_numbers.py the numbers within sentences.

usage: docs/generate/update_pages.py [--check]     --check changes nothing; exit status 1 if a page is out of date
"""
from __future__ import annotations

import importlib
import pathlib
import re
import sys

from inline_numbers import with_numbers
from quotes import blocks_of_quotes
from reference_text import ROOT  # it puts plots/ on the path
from zerotax_plots.output import write


def with_block(page: str, marker: str, block: str) -> str:
    """The page with what is between its markers replaced."""
    pattern = re.compile(rf"(<!-- {marker} -->\n).*?\n?<!-- end -->", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"a page has no markers '<!-- {marker} -->' and '<!-- end -->'")
    return pattern.sub(lambda found: f"{found.group(1)}{block}\n<!-- end -->", page)


def pages() -> list[pathlib.Path]:
    """README.md, and those of docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def main() -> int:
    """Writes or checks every page; returns the exit status."""
    blocks_of: dict[pathlib.Path, dict[str, str]] = {}
    for script in sorted(pathlib.Path(__file__).parent.glob("blocks_*.py")):
        blocks = importlib.import_module(script.stem)
        blocks_of.setdefault(ROOT / blocks.PAGE, {}).update({marker: block() for marker, block in blocks.BLOCKS.items()})
    for page, quotes in blocks_of_quotes().items():
        blocks_of.setdefault(ROOT / page, {}).update(quotes)
    status = 0
    for path in sorted({*pages(), *blocks_of}):
        page = updated = path.read_text(encoding="utf-8")
        for marker, block in blocks_of.get(path, {}).items():
            updated = with_block(updated, marker, block)
        updated = with_numbers(updated, path.name)
        if "--check" not in sys.argv[1:]:
            write(path, updated.encode(), lambda old: old.decode() == page)
        elif updated != page:
            print(f"{path.relative_to(ROOT)} is not what results/reference says: run docs/generate/update_pages.py",
                  file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
