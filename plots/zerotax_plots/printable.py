"""Makes others' text visible, as harness/foundation/base/printable.cc does: names of programs, functions, files and commits."""

from __future__ import annotations

import re
from typing import Any

# Control characters, non-characters, and characters without a shape (Default_Ignorable_Code_Point and Cf of Unicode 15, blanks
# but U+0020, separators of lines and paragraphs). Also halves of surrogate pairs, which stand for bytes of file names that are
# not UTF-8. Line breaks and tabs of our own sentences stay.
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
    """Whether a text in this JSON may have to be escaped."""
    return next(_SUSPECT.finditer(json_text), None) is not None


def printable(text: str) -> str:
    """The text with every character visible, and without anything that GitHub's runner takes for a command."""
    visible = HIDDEN.sub(_escape, text).replace("##[", "#\\x23[")
    return re.sub(r"^([ \t]*):(?=:)", r"\1\\x3a", visible, flags=re.MULTILINE)


def printable_parts(value: Any) -> Any:
    """The same for every text in a JSON value."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [printable_parts(each) for each in value]
    if isinstance(value, dict):
        return {printable(key): printable_parts(each) for key, each in value.items()}
    return value
