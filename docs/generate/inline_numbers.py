"""Fills numbers from files of results/reference into sentences.

A sentence of a page contains [1.58 GiB][numpy zeroed], and the end of the page defines each name:

    [numpy zeroed]: ../results/reference/FILE "SELECTOR FORMAT"

A reader sees a link to the file. A template in Python contains {FILE SELECTOR FORMAT}, or {SELECTOR FORMAT} for a number of
one given document. For a JSON file, SELECTOR is a path of keys with / between them. A step through a list is an index, or
[key=value,...] for the first element with these values. `A : B` is the quotient of two numbers, and `A + B` is their sum.
FORMATS lists the formats. For any other file, SELECTOR is /REGEX/ without a FORMAT, and the text is the group of the match.
"""
from __future__ import annotations

import functools
import operator
import pathlib
import re
from collections.abc import Callable
from typing import Any

from reference_text import REFERENCE, reference
from zerotax_plots.units import count_text, number_text, percent_text, rate_text, size_text, time_text, whole_percent_text

DEFINITION = re.compile(r'^\[([^\]\n]+)\]: (\S+) "(.*)"$', re.MULTILINE)
# Code comes first, because it may contain brackets.
NUMBER = re.compile(r"(?P<code>^```.*?^```$|`[^`\n]*`)|\[(?P<text>[^\[\]]*)\]\[(?P<name>[^\[\]]+)\]", re.DOTALL | re.MULTILINE)
FORMATS: dict[str, Callable[[Any], str]] = {
    "time": time_text,   # from nanoseconds
    "seconds": lambda value: time_text(value * 1e9),
    "bytes": size_text,
    "percent": percent_text,   # from a fraction (0.5 is 50 %)
    "whole_percent": whole_percent_text,
    "count": count_text,
    "whole": lambda value: count_text(round(value)),
    "number": number_text,
    "rate": rate_text,
    "text": str,
}
PROBLEMS = (OSError, LookupError, StopIteration, TypeError, ValueError)


def step(value: Any, name: str) -> Any:
    """Returns the value after one step of a path. Raises KeyError, IndexError or StopIteration if it does not exist."""
    if not isinstance(value, list):
        return value[name]
    if not name.startswith("["):
        return value[int(name)]
    wanted = dict(part.split("=", 1) for part in name.strip("[]").split(","))
    return next(each for each in value if all(str(each[key]) == of for key, of in wanted.items()))


def figure(document: Any, path: str) -> Any:
    """Returns the value at the path, or its median if it is a distribution."""
    for name in path.strip().split("/"):
        document = step(document, name)
    return document["median"] if isinstance(document, dict) and "median" in document else document


def text_in(document: Any, words: str) -> str:
    """Returns the text of SELECTOR FORMAT in a document; n/a if the value is missing."""
    selector, form = words.strip().rsplit(None, 1)
    sides = [[figure(document, path) for path in side.split(" + ")] for side in selector.split(" : ")]
    if any(isinstance(value, dict) and "na" in value for side in sides for value in side):
        return "n/a"
    return FORMATS[form](functools.reduce(operator.truediv, (functools.reduce(operator.add, side) for side in sides)))


def text_of(file: str, rest: str) -> str:
    """Returns the text of SELECTOR FORMAT in a file of results/reference."""
    if file.endswith(".json"):
        return text_in(reference(file), rest)
    [found] = set(re.findall(rest.strip()[1:-1], (REFERENCE / file).read_text(encoding="utf-8")))
    return found


def filled(template: str, document: Any = None) -> str:
    """Returns the template with its numbers filled in, from this document or from the files that the template names."""
    def number(found: re.Match[str]) -> str:
        try:
            return text_of(*found[1].split(None, 1)) if document is None else text_in(document, found[1])
        except PROBLEMS as problem:
            raise SystemExit(f"nothing for {found[0]}: {problem!r}") from problem
    return re.sub(r"\{([^{}]+)\}", number, template)


def with_numbers(page: str, path: pathlib.Path) -> str:
    """Returns the page with every number replaced. Raises SystemExit for a name without a source, and for an unused source."""
    sources = {name: (file, rest) for name, file, rest in DEFINITION.findall(page)}
    unused = set(sources)

    def number(found: re.Match[str]) -> str:
        name = " ".join((found["name"] or "").split())
        if not name:
            return found.group()
        try:
            file, rest = sources[name]
            text = text_of(str((path.parent / file).resolve().relative_to(REFERENCE)), rest)
            if text == "n/a":
                raise ValueError("it is n/a")
        except PROBLEMS as problem:
            raise SystemExit(f"{path.name}: no number for [{name}]: {problem!r}") from problem
        unused.discard(name)
        return f"[{text}][{found['name']}]"
    page = NUMBER.sub(number, page)
    if unused:
        raise SystemExit(f"{path.name}: no sentence uses {', '.join(sorted(unused))}")
    return page


def rows_of(entries: list[Any], *cells: str) -> list[list[str]]:
    """Returns a row for each entry. Each cell is a template that is filled in from the entry."""
    return [[filled(cell, entry) for cell in cells] for entry in entries]
