"""Helpers for the blocks of all pages: their registry, the documents of the reference run, and tables in Markdown."""
from __future__ import annotations

import functools
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
sys.path.insert(0, str(ROOT / "plots"))

from zerotax_plots.units import count_text, size_text, time_text  # noqa: E402

Block = Callable[[], str]
BLOCKS: dict[str, dict[str, Block]] = {}   # blocks of each page, by marker


def block(page: str, marker: str) -> Callable[[Block], Block]:
    """Registers the function in BLOCKS. The page has its text after `<!-- results/referenceMARKER -->`."""
    def enter(text: Block) -> Block:
        BLOCKS.setdefault(page, {})["results/reference" + marker] = text
        return text
    return enter


@functools.cache
def reference(name: str) -> dict:
    """Returns a JSON file of the reference run, which is read only once."""
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


def machine(run: dict) -> str:
    """Returns a line with the date and the machine of a run."""
    environment = run["environment"]
    return (f"Measured {run['started'][:10]} on Linux {environment['kernel']}, {environment['cpu']}, "
            f"{environment['cpus']} CPUs, {size_text(environment['memory_bytes'])}, huge pages `{environment['thp']}`.")


def or_na(figure: Any, text: Callable[[float], str]) -> str:
    """Returns a value, or the median of a distribution, as `text` formats it; n/a if the value is missing."""
    if isinstance(figure, dict):
        return text(figure["median"]) if "median" in figure else "n/a"
    return text(figure)


def time(ns: float | dict) -> str:
    """Returns a time, or n/a."""
    return or_na(ns, time_text)


def number(figure: int | dict) -> str:
    """Returns a count, or n/a."""
    return or_na(figure, count_text)


def rows_table(head: list[str], rows: list[list[str]], aligned: str = "") -> str:
    """Returns a table in Markdown. `aligned` is the line below the head; if it is empty, all columns are left-aligned."""
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return "\n".join([lines[0], aligned or "|" + "---|" * len(head), *lines[1:]])


def table(head: list[str], rows: list[list[str]]) -> str:
    """Returns a table in Markdown in which all columns but the first are right-aligned."""
    return rows_table(head, rows, "|:--|" + "--:|" * (len(head) - 1))


def of_allocators(entries: list[dict]) -> list[str]:
    """Returns the allocators in the order of their first entry."""
    return list(dict.fromkeys(entry["allocator"] for entry in entries))
