#!/usr/bin/python3
"""Writes the page of a comparison: one HTML file, before and after, that needs no script, no other file and no network.

Usage: write_comparison.py DOCUMENT --out FILE, where DOCUMENT is what `zerotax compare --json` or
`zerotax check --json` wrote. Every verdict and sentence comes from it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Callable, Sequence

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from page.comparison import compare_parts  # noqa: E402
from page.review import check_parts  # noqa: E402
from page.write_page import fingerprint, jinja2, style, write  # noqa: E402
from markupsafe import Markup  # noqa: E402
from zerotax_files import ResultsError, parse_json, read_text  # noqa: E402
from zerotax_units import counted_text  # noqa: E402

MOST_PANELS = 8
MAKES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "zerotax.compare/1": compare_parts,
    "zerotax.check/1": check_parts,
}


def page(document: dict[str, Any]) -> str:
    """The page of a document; the same document gives the same text."""
    make = MAKES.get(document.get("schema", ""))
    if make is None:
        raise ResultsError(f"the schema {document.get('schema')!r} has no page; give one of {', '.join(MAKES)}")
    look = style() + (FOLDER / "comparison.css").read_text(encoding="utf-8")
    loader = jinja2.FileSystemLoader(FOLDER)
    jinja = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters["counted"] = counted_text
    policy = f"default-src 'none'; style-src {fingerprint(look)}; base-uri 'none'; form-action 'none'"
    return jinja.get_template("comparison.html").render(
        parts=make(document), style=Markup(look), policy=Markup(policy), most_panels=MOST_PANELS
    )


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status (0, or 2 for bad input)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("document", type=Path, metavar="DOCUMENT", help="the file of `zerotax compare --json`")
    parser.add_argument("--out", type=Path, metavar="FILE", required=True, help="where the page goes")
    given = parser.parse_args(argv)
    try:
        document = parse_json(read_text(given.document))
        if not isinstance(document, dict):
            raise ResultsError(f"{given.document}: no object; give the file of `zerotax compare --json`")
        write(page(document), given.out)
    except ResultsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"error: {given.document}: not as its schema says ({type(error).__name__}: {error})", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
