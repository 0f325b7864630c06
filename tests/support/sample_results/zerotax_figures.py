"""Helpers for the tests of figures: lines, words, and the scripts as a user starts them."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

PLOTS = Path(__file__).resolve().parents[3] / "plots"


def drawn(axes: Any) -> dict[str, list[tuple[float, float]]]:
    """Returns the points of each line that has a name."""
    return {line.get_label(): list(zip(*line.get_data())) for line in axes.lines
            if not line.get_label().startswith("_")}


def words(figure: Any) -> str:
    """Returns all text around the panels."""
    return " ".join(text.get_text() for text in figure.texts)


def script(name: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs plots/NAME.py. A script that needs another environment runs in a new interpreter. Any other script runs in a
    fork of this interpreter, which has already loaded matplotlib.
    """
    words = [str(PLOTS / f"{name}.py"), *map(str, arguments)]
    if environment:
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if child == 0:
            os._exit(as_main(words, out, errors))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (out, errors):
            file.seek(0)
        return subprocess.CompletedProcess(words, status, out.read(), errors.read())


def as_main(words: list[str], out: Any, errors: Any) -> int:
    """Runs the script that these words name, as the interpreter would. Returns the exit status."""
    sys.argv, sys.stdout, sys.stderr = words, out, errors
    status: object = 0
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        status = ended.code or 0
    except BaseException:  # like the interpreter, prints any exception
        traceback.print_exc()
        status = 1
    out.flush()
    errors.flush()
    return status if isinstance(status, int) else 1
