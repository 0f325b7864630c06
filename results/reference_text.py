"""What the blocks of all pages share: the reference run, its words and tables."""
from __future__ import annotations

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "results" / "reference"


def reference(name: str) -> dict:
    """A JSON file of the reference run."""
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


def machine(run: dict, up: str = "") -> str:
    """One line on what was measured, when and on which machine; `up` leads from the page to the top folder."""
    environment = run["environment"]
    gib = environment["memory_bytes"] / 2**30
    return (f"Measured {run['started'][:10]} on Linux {environment['kernel']}, {environment['cpu']}, "
            f"{environment['cpus']} CPUs, {gib:.0f} GiB, huge pages `{environment['thp']}`; "
            f"all of it is in [results/reference]({up}results/reference).")


def rate(figure: float | dict) -> str:
    """A rate in MB/s with three digits at most, or n/a."""
    if isinstance(figure, dict):
        return "n/a"
    return f"{figure:.3g}" if figure < 1000 else f"{float(f'{figure:.3g}'):,.0f}"


def duration(ns: float) -> str:
    """A time with three digits."""
    for unit, least in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= least:
            return f"{float(f'{ns / least:.3g}'):g} {unit}"
    return f"{ns:.3g} ns"


def size_text(size: int) -> str:
    """The size as it is given on the command line."""
    if size % 10**6 == 0:
        return f"{size // 10**6} MB"
    for unit, power in (("GiB", 30), ("MiB", 20)):
        if size >= 1 << power:
            return f"{float(f'{size / (1 << power):.3g}'):g} {unit}" if size < 1000 << power else f"{size >> power} {unit}"
    return f"{size >> 10} KiB"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, all columns but the first to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    line = "|:" + "-" * (widths[0] + 1) + "|" + "".join("-" * (w + 1) + ":|" for w in widths[1:])
    text = ["| " + " | ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                              for i, (cell, w) in enumerate(zip(row, widths))) + " |"
            for row in [head, *rows]]
    return "\n".join([text[0], line, *text[1:]])


def of_allocators(entries: list[dict]) -> list[str]:
    """The allocators in the order of their first entry."""
    return list(dict.fromkeys(entry["allocator"] for entry in entries))
