"""The command line that every figure script shares."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from pathlib import Path
from typing import Callable, Sequence

try:
    from zerotax_plots import style  # noqa: F401  (first: it settles matplotlib's folder and backend)
except ModuleNotFoundError as missing:
    print(f"error: {missing}; install python3-matplotlib and use /usr/bin/python3",
          file=sys.stderr)
    sys.exit(2)
from matplotlib.figure import Figure

from zerotax_plots.files import NothingToDraw, ResultsError
from zerotax_plots.output import is_figure, named_path, write
from zerotax_plots.results import Results, load

FORMATS = ("png", "svg")
PNG_DPI = 150
# Raised when a document that does not match its schema is read.
DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
Draw = Callable[[Results], Figure]
Load = Callable[[Path], Results]


def arguments(description: str, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parses RESULTS [--out DIR] [--format png] [--format svg]."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("results", type=named_path, metavar="RESULTS",
                        help="results folder, or the file of `zerotax run --json`")
    parser.add_argument("--out", type=named_path, metavar="DIR",
                        help="where the figures go (default: the results folder)")
    parser.add_argument("--force", action="store_true",
                        help="replace files that zerotax did not write")
    parser.add_argument("--format", action="append", choices=FORMATS, dest="formats",
                        help="repeatable (default: both)")
    parsed = parser.parse_args(argv)
    if parsed.out is None:
        parsed.out = parsed.results if parsed.results.is_dir() else parsed.results.parent
    parsed.formats = list(dict.fromkeys(parsed.formats or FORMATS))
    return parsed


def save(figure: Figure, name: str, out: Path, formats: Sequence[str], force: bool = False) -> list[Path]:
    """Writes the figure in each format, and returns the paths. The same data give the same bytes.

    Raises ResultsError when the folder cannot be written, or has another file of this name.
    """
    paths = [out / f"{name}.{kind}" for kind in formats]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path in paths:
            # matplotlib would write the time and its own version into the file. By "zerotax" a later figure knows that
            # it may replace this one (harness/measuring/files/output_kind.cc).
            stamps = {"Date": None, "Creator": "zerotax"} if path.suffix == ".svg" \
                else {"Software": None}
            drawn = io.BytesIO()
            figure.savefig(drawn, format=path.suffix[1:], dpi=PNG_DPI, facecolor="white",
                           metadata={"Title": figure.get_label(), **stamps})
            write(path, drawn.getvalue(), is_figure, force=force)
    except OSError as error:
        raise ResultsError(f"{out}: cannot write the figure ({error.strerror or error}); "
                           "give a folder that you can write with --out") from error
    return paths


def damage_text(source: Path, error: Exception, of: str = "") -> str:
    """The line about a file that is JSON of the right schema, but has something else where its schema has a figure.

    The place in our own code tells a mistake of ours from damage.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f", {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    what = " ".join(str(error).split())[:100]
    return (f"error: {of}{source}: not as its schema says ({type(error).__name__}: {what}{place}); "
            "measure again, or delete what another program wrote")


def draw_all(figures: Sequence[tuple[str, Draw]], description: str,
             argv: Sequence[str] | None = None, load: Load = load) -> int:
    """Draws the figures and prints a path per file; returns the exit status.

    One figure that cannot be drawn does not keep the others from being drawn: it costs one line on
    stderr, and status 2. One that has nothing to draw is left out, unless it alone was asked for.
    """
    given = arguments(description, argv)
    status = 0
    try:
        results = load(given.results)
    except ResultsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except DAMAGED as error:
        print(damage_text(given.results, error), file=sys.stderr)
        return 2
    for name, draw in figures:
        try:
            for path in save(draw(results), name, given.out, given.formats, given.force):
                print(path)
        except ResultsError as error:
            if isinstance(error, NothingToDraw) and len(figures) > 1:
                continue
            print(f"error: {name}: {error}", file=sys.stderr)
            status = 2
        except DAMAGED as error:
            print(damage_text(results.source, error, f"{name}: "), file=sys.stderr)
            status = 2
    return status


def main(name: str, draw: Draw, description: str, argv: Sequence[str] | None = None,
         load: Load = load) -> int:
    """The command line of one figure script; returns the exit status (0, or 2 for bad input)."""
    return draw_all([(name, draw)], description, argv, load)
