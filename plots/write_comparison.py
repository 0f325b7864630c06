#!/usr/bin/python3
"""Writes the page of a comparison: one HTML file that needs no other file and no network.

Usage: write_comparison.py DOCUMENT --out FILE, where DOCUMENT is what `zerotax compare --json`, `zerotax check --json`
(of an allocator or a program) or `zerotax history --json` wrote. Every verdict and sentence comes from DOCUMENT.
`--check` without DOCUMENT reports whether this machine can make a page.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, Callable, Sequence

from zerotax_plots.files import ResultsError, parse_json, read_text
from zerotax_plots.output import is_page, named_path, write
from zerotax_plots.page.comparison import compare_parts
from zerotax_plots.page.programs import program_parts
from zerotax_plots.page.rendering import PARTS, library, rendered
from zerotax_plots.page.review import check_parts
from zerotax_plots.page.versions import history_parts

MAKES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "zerotax.compare/1": compare_parts,
    "zerotax.check/1": check_parts,
    "zerotax.history/1": history_parts,
    "zerotax.program_check/1": program_parts,
}


def page(document: dict[str, Any]) -> str:
    """Returns the HTML text of a document's page. The same document always gives the same text."""
    make = MAKES.get(document.get("schema", ""))
    if make is None:
        raise ResultsError(f"the schema {document.get('schema')!r} has no page; give one of {', '.join(MAKES)}")
    parts = {"commands": [], "rows": [], "verdicts": [], "versions": [], "map": None, "names": None, "places": None}
    parts |= {"every": "point", **make(document)}
    data = {name: parts[name] for name in ("views", "map", "names")}
    run_line = " · ".join([parts["command"], *(f"{name} {text}" for name, text in parts["sides"])])
    return rendered("comparison.html", [*PARTS, "comparison"], data, parts=parts, run_line=run_line)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line, and returns the exit status (0, or 2 for bad input)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("document", type=named_path, nargs="?", metavar="DOCUMENT", help="the file of `zerotax compare --json`")
    parser.add_argument("--out", type=named_path, metavar="FILE", help="path of the page")
    parser.add_argument("--check", action="store_true", help="only check whether a page can be made here")
    parser.add_argument("--force", action="store_true", help="replace a file that zerotax did not write")
    given = parser.parse_args(argv)
    if not given.check and not (given.document and given.out):
        parser.error("give DOCUMENT and --out FILE")
    try:
        if given.check:
            library()
            return 0
        document = parse_json(read_text(given.document))
        if not isinstance(document, dict):
            raise ResultsError(f"{given.document}: not a JSON object; give the file of `zerotax compare --json`")
        write(given.out, page(document).encode(), is_page, force=given.force, inputs=[given.document])
    except ResultsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        print(f"error: {given.document}: does not match its schema ({type(error).__name__}: {error})", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
