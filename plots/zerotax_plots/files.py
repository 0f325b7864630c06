"""Reads JSON and files of one JSON object per line, as strictly as any other reader would."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from zerotax_plots.printable import is_suspect, printable, printable_parts

MOST_BYTES = 1 << 30   # as zerotax itself


class ResultsError(Exception):
    """Unusable results. The message is one line that says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message).replace("\n", "\\n"))


class NothingToDraw(ResultsError):
    """The results lack what a figure shows. That is no error: not every run has every part."""


def parse_json(text: str) -> Any:
    """Strict JSON, as zerotax itself reads it, with every text in it printable; raises ValueError.

    Python alone would accept NaN and Infinity, and the last of two values of one key. It would report a hundred thousand
    brackets by another error.
    """
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("an object has a key twice")
        return found

    try:
        value = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    # Most files contain nothing to escape, neither as a character nor as a JSON escape.
    return printable_parts(value) if is_suspect(text) else value


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


def read_bytes(path: Path) -> bytes:
    """The bytes of a file; raises OSError when it cannot be read."""
    # Reading a pipe would block, and a device may never end. The open file is checked, because its path may lead to another
    # file by then.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, "it is larger than 1 GiB")
        data = file.read(MOST_BYTES + 1)   # a file of /proc has no size
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, "it is larger than 1 GiB")
    return data


def read_text(path: Path) -> str:
    """The text of a file; raises ResultsError when it cannot be read."""
    try:
        return read_bytes(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ResultsError(f"{path}: cannot be read ({why}); give the folder that "
                           "`zerotax run --out DIR` or `zerotax study` wrote") from error
