#!/usr/bin/python3
"""Finds phrases in pages and help texts that a reader must read twice. usage: cmake/prose.py FILE...

Prints file, line and phrase, with what to write. Exit status 1 if it found any.
"""
from __future__ import annotations

import pathlib
import re
import sys

PHRASES = {
    r"(?:^|[.!?] )(?:What|That which|Whatever|Whoever) [a-z]+[^.?]{0,60} (?:is|are) ": "name the subject",
    r"\bis none\b|\bare none\b": "say what it is not",
    r"\bis so\b(?! [a-z]+ that)": "say what it is",
    r"\bthose of these\b|\bthese of those\b": "name both",
    r"(?:^|[.!?] )Of an? [a-z]": "begin with the subject",
    r"\banew\b": "again",
    r"\bgoes on\b|\bgo on\b": "continues",
    r"\bheld against\b": "compared with",
    r"\bput down to\b": "attributed to",
    r"\bmended\b": "fixed",
    r"\badvices\b": "advice",
    r"\bas it is\b(?! [a-z])": "unchanged",
    r"\b[Dd]oes not prove\b": "Limits",
    r"\b(?:is|are|was|were) told of\b": "is reported",
    r"\bis to be [a-z]+ed\b": "say who does it",
    r"\bis not to be had\b": "is unavailable",
    r"\bbehind --": "after --",
}
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])|\n\n|\n(?=[-*|#>] ?)")
CODE = re.compile(r"^```.*?^```$|<!--.*?-->|`[^`\n]*`|^\|[^\n]*$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)


def blanked(text: str) -> str:
    """The text with code, tables and comments as so many blanks, lines kept."""
    return CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def problems(text: str, is_page: bool) -> list[tuple[int, str, str]]:
    """(line, phrase, what to write) of each; a help text's lines are no sentences."""
    text = blanked(text)
    found = []
    for pattern, instead in PHRASES.items():
        for match in re.finditer(pattern, text, re.MULTILINE):
            found.append((text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), instead))
    place = 0
    for sentence in SENTENCE_END.split(text) if is_page else []:
        place = text.index(sentence, place)
        if len(re.findall(r":(?=\s)", sentence)) > 1:
            found.append((text.count("\n", 0, place) + 1, " ".join(sentence.split())[:60], "one colon in a sentence"))
    return sorted(found)


def main() -> int:
    status = 0
    for name in sys.argv[1:]:
        for line, phrase, instead in problems(pathlib.Path(name).read_text(encoding="utf-8"), name.endswith(".md")):
            print(f"{name}:{line}: '{phrase}': {instead}")
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
