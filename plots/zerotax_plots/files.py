"""Reads JSON, and files with one JSON object per line, as strictly as zerotax does. Makes the text in them printable.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 30   # zerotax has the same size limit
# The characters that harness/foundation/base/printable.cc replaces: control characters, non-characters, and characters
# without a shape (Default_Ignorable_Code_Point).
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    + "".join(chr(plane << 16 | low) for plane in range(1, 17) for low in (0xFFFE, 0xFFFF)) + "]"
)


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number == 0x0D:
        return "\\r"
    if number < 0x80:
        return f"\\x{number:02x}"
    if 0xDC80 <= number <= 0xDCFF:   # a byte of a file name (PEP 383)
        return f"\\x{number - 0xDC00:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


_SUSPECT = re.compile(HIDDEN.pattern + r'|##\[|\\[ubfnr]|" *::')


def is_suspect(json_text: str) -> bool:
    """Returns whether this JSON text may contain characters that need escapes."""
    return next(_SUSPECT.finditer(json_text), None) is not None


def printable(text: str) -> str:
    """Returns the text with every character visible, and without anything that GitHub's runner takes for a command."""
    visible = HIDDEN.sub(_escape, text).replace("##[", "#\\x23[")
    return re.sub(r"^([ \t]*):(?=:)", r"\1\\x3a", visible, flags=re.MULTILINE)


def printable_parts(value: Any) -> Any:
    """Makes every text in a JSON value printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [printable_parts(each) for each in value]
    if isinstance(value, dict):
        return {printable(key): printable_parts(each) for key, each in value.items()}
    return value


class ResultsError(Exception):
    """Unusable results. The message is one line with the problem and a remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message).replace("\n", "\\n"))


class NothingToDraw(ResultsError):
    """The results lack the content of a figure. Missing content is no error, because not every run has every part."""


def parse_json(text: str) -> Any:
    """Parses JSON as strictly as zerotax itself, and makes every text in it printable. Raises ValueError. Python alone
    would accept NaN, Infinity and repeated keys, and would raise a different error for a hundred thousand nested
    brackets.
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
        raise ValueError("it is nested too deeply") from None
    # Most files contain no character that needs an escape, and no JSON escape.
    return printable_parts(value) if is_suspect(text) else value


def split_lines(text: str) -> tuple[list[tuple[int, str]], int | None]:
    """Returns the numbered lines of a points file, and the number of a last line that is cut short, if any.

    A run that was killed, or is still running, may leave half a line without a newline at its end.
    """
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if lines and not text.endswith("\n"):
        try:
            parse_json(lines[-1][1])
        except ValueError:
            return lines[:-1], lines[-1][0]
    return lines, None


def read_bytes(path: Path) -> bytes:
    """Returns the bytes of a file. Raises OSError if it cannot be read."""
    # Reading a pipe would block, and a device may never end. The open file is checked, because the path may name
    # another file by now.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if status.st_size > MOST_BYTES:
            raise OSError(errno.EFBIG, "it is larger than 1 GiB")
        data = file.read(MOST_BYTES + 1)   # files of /proc have size 0
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, "it is larger than 1 GiB")
    return data


def read_text(path: Path) -> str:
    """Returns the text of a file. Raises ResultsError if it cannot be read."""
    try:
        return read_bytes(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ResultsError(f"{path}: cannot be read ({why}); give the folder that "
                           "`zerotax run --out DIR` or `zerotax study` wrote") from error
