"""The command line that every figure script shares."""

from __future__ import annotations

import argparse
import io
import sys
import traceback
from pathlib import Path
from typing import Callable, Sequence

try:
    from zerotax_plots import style  # noqa: F401 (imported first, because it sets matplotlib's folder and backend)
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
# The errors that reading a document may raise if the document does not match its schema.
DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
Draw = Callable[[Results], Figure]
Load = Callable[[Path], Results]


def arguments(description: str, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parses RESULTS [--out DIR] [--format png] [--format svg]."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("results", type=named_path, metavar="RESULTS",
                        help="results folder, or the file of `zerotax run --json`")
    parser.add_argument("--out", type=named_path, metavar="DIR",
                        help="folder for the figures (default: the results folder)")
    parser.add_argument("--force", action="store_true",
                        help="replace files that zerotax did not write")
    parser.add_argument("--format", action="append", choices=FORMATS, dest="formats",
                        help="format of the figures, repeatable (default: both)")
    parsed = parser.parse_args(argv)
    if parsed.out is None:
        parsed.out = parsed.results if parsed.results.is_dir() else parsed.results.parent
    parsed.formats = list(dict.fromkeys(parsed.formats or FORMATS))
    return parsed


def save(figure: Figure, name: str, out: Path, formats: Sequence[str], force: bool = False) -> list[Path]:
    """Writes the figure in each format, and returns the paths. The same data give the same bytes. Raises ResultsError
    if the folder cannot be written, or contains a file of this name that is not a figure.
    """
    paths = [out / f"{name}.{kind}" for kind in formats]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path in paths:
            # matplotlib would write the time and its own version into the file. "zerotax" marks a file that a later
            # figure may replace (harness/measuring/files/output_kind.cc).
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
    """Returns the message on a file of the right schema that has another kind of value in place of a metric. The code
    location of the failure distinguishes our own mistakes from damaged files.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f", {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    what = " ".join(str(error).split())[:100]
    return (f"error: {of}{source}: does not match its schema ({type(error).__name__}: {what}{place}); "
            "measure again, or delete what another program wrote")


def draw_all(figures: Sequence[tuple[str, Draw]], description: str,
             argv: Sequence[str] | None = None, load: Load = load) -> int:
    """Draws the figures and prints a path per file. Returns the exit status. A figure that cannot be drawn costs one
    line on stderr and status 2, but does not stop the other figures. A figure without content is skipped, unless it is
    the only requested figure.
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
    """Runs the command line of one figure script, and returns the exit status (0, or 2 for bad input)."""
    return draw_all([(name, draw)], description, argv, load)
