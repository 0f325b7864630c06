#!/usr/bin/python3
"""Writes the page of a comparison: one HTML file, before and after, that needs no other file and no network.

Usage: write_comparison.py DOCUMENT --out FILE, where DOCUMENT is what `zerotax compare --json`, `zerotax check --json`
(of an allocator or a program) or `zerotax history --json` wrote. Every verdict and sentence comes from it. `--check`
alone says whether a page can be made here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Callable, Sequence

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from page.comparison import compare_parts  # noqa: E402
from page.programs import program_parts  # noqa: E402
from page.review import check_parts  # noqa: E402
from page.versions import history_parts  # noqa: E402
from page.write_page import PARTS, library, rendered  # noqa: E402
from zerotax_plots.files import ResultsError, parse_json, read_text  # noqa: E402
from zerotax_plots.output import is_page, named_path, write  # noqa: E402

MAKES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "zerotax.compare/1": compare_parts,
    "zerotax.check/1": check_parts,
    "zerotax.history/1": history_parts,
    "zerotax.program_check/1": program_parts,
}


def page(document: dict[str, Any]) -> str:
    """The page of a document; the same document gives the same text."""
    make = MAKES.get(document.get("schema", ""))
    if make is None:
        raise ResultsError(f"the schema {document.get('schema')!r} has no page; give one of {', '.join(MAKES)}")
    parts = {"commands": [], "rows": [], "verdicts": [], "versions": [], "map": None, "names": None, "places": None}
    parts |= {"every": "point", **make(document)}
    data = {name: parts[name] for name in ("views", "map", "names")}
    run_line = " · ".join([parts["command"], *(f"{name} {text}" for name, text in parts["sides"])])
    return rendered("comparison.html", [*PARTS, "comparison"], data, parts=parts, run_line=run_line)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status (0, or 2 for bad input)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("document", type=named_path, nargs="?", metavar="DOCUMENT", help="the file of `zerotax compare --json`")
    parser.add_argument("--out", type=named_path, metavar="FILE", help="where the page goes")
    parser.add_argument("--check", action="store_true", help="only say whether a page can be made here")
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
            raise ResultsError(f"{given.document}: no object; give the file of `zerotax compare --json`")
        write(given.out, page(document).encode(), is_page, force=given.force, inputs=[given.document])
    except ResultsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        print(f"error: {given.document}: not as its schema says ({type(error).__name__}: {error})", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
