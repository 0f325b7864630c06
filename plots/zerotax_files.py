"""Reads JSON and files of one JSON object per line, as strictly as any other reader would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class ResultsError(Exception):
    """Unusable results. The message is one line and says what to do about it."""


class NothingToDraw(ResultsError):
    """The results lack what a figure is of, which is no fault: not every run has every part."""


def parse_json(text: str) -> Any:
    """Strict JSON: Python would also take NaN and Infinity, which no other reader does."""
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")
    return json.loads(text, parse_constant=refuse)


def split_lines(text: str) -> tuple[list[tuple[int, str]], int | None]:
    """Numbered lines of a points file, and the number of a last line that was cut short, if any.

    A run that is killed, or still going, may leave half a line; it has no newline at its end.
    """
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if lines and not text.endswith("\n"):
        try:
            parse_json(lines[-1][1])
        except ValueError:
            return lines[:-1], lines[-1][0]
    return lines, None


def read_text(path: Path) -> str:
    """The text of a file; raises ResultsError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ResultsError(f"{path}: cannot be read ({why}); give the folder that "
                           "`zerotax run --out DIR` or `zerotax study` wrote") from error
