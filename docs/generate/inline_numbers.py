"""Numbers within sentences: <!--=FILE SELECTOR FORMAT-->text<!--/-->, the text from a file of results/reference.

Of JSON, SELECTOR is a path of keys with / between them; a step through a list is a number, or [key=value,...] for the
first element that has those values. `A : B` is the quotient of two. FORMAT: time (from ns), seconds, bytes, percent
(of a share), count, ratio or text. Of any other file, SELECTOR is /REGEX/ without a FORMAT, and the text its group.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from reference_text import REFERENCE, reference, size_text, time_text

MARKER = re.compile(r"(<!--=(\S+)\s+(.*?)-->).*?(<!--/-->)", re.DOTALL)
FORMATS: dict[str, Callable[[Any], str]] = {
    "time": time_text,
    "seconds": lambda value: time_text(value * 1e9),
    "bytes": size_text,
    "percent": lambda value: f"{100 * value:.1f} %",
    "count": lambda value: f"{value:,.0f}",
    "ratio": lambda value: f"{value:.1f}" if value < 10 else f"{value:,.0f}",
    "text": str,
}


def step(value: Any, name: str) -> Any:
    """One step of a path. Raises KeyError, IndexError or StopIteration where there is nothing."""
    if not isinstance(value, list):
        return value[name]
    if not name.startswith("["):
        return value[int(name)]
    wanted = dict(part.split("=", 1) for part in name.strip("[]").split(","))
    return next(each for each in value if all(str(each[key]) == of for key, of in wanted.items()))


def figure(document: Any, path: str) -> Any:
    """What stands at the path; the median of a spread."""
    for name in path.strip().split("/"):
        document = step(document, name)
    return document["median"] if isinstance(document, dict) and "median" in document else document


def text_of(file: str, rest: str) -> str:
    """The text between the markers."""
    if not file.endswith(".json"):
        [found] = set(re.findall(rest.strip()[1:-1], (REFERENCE / file).read_text(encoding="utf-8")))
        return found
    selector, form = rest.strip().rsplit(None, 1)
    figures = [figure(reference(file), path) for path in selector.split(" : ")]
    return FORMATS[form](figures[0] / figures[1] if len(figures) == 2 else figures[0])


def with_numbers(page: str, name: str) -> str:
    """The page with every number within its sentences replaced. Raises SystemExit for a marker that finds none."""
    def number(found: re.Match[str]) -> str:
        try:
            return f"{found.group(1)}{text_of(found.group(2), found.group(3))}{found.group(4)}"
        except (OSError, LookupError, StopIteration, TypeError, ValueError) as problem:
            raise SystemExit(f"{name}: nothing for {found.group(1)}: {problem!r}") from problem
    return MARKER.sub(number, page)
