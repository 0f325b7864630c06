"""What the blocks of all pages share: the reference run, its words and tables."""
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

from zerotax_plots.units import size_text, time_text  # noqa: E402


@functools.cache
def reference(name: str) -> dict:
    """A JSON file of the reference run, read once for all pages."""
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


def machine(run: dict, up: str = "") -> str:
    """One line on what was measured, when and on which machine; `up` leads from the page to the top folder."""
    environment = run["environment"]
    return (f"Measured {run['started'][:10]} on Linux {environment['kernel']}, {environment['cpu']}, "
            f"{environment['cpus']} CPUs, {size_text(environment['memory_bytes'])}, huge pages `{environment['thp']}`; "
            f"all of it is in [results/reference]({up}results/reference).")


def or_na(figure: Any, text: Callable[[float], str]) -> str:
    """A figure as the function writes it, or its median if it is a spread; n/a if it is missing."""
    if isinstance(figure, dict):
        return text(figure["median"]) if "median" in figure else "n/a"
    return text(figure)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, all columns but the first to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    line = "|:" + "-" * (widths[0] + 1) + "|" + "".join("-" * (w + 1) + ":|" for w in widths[1:])
    text = ["| " + " | ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                              for i, (cell, w) in enumerate(zip(row, widths))) + " |"
            for row in [head, *rows]]
    return "\n".join([text[0], line, *text[1:]])


def rows_table(head: list[str], rows: list[list[str]], aligned: str = "") -> str:
    """A table in Markdown without padding; `aligned` is the line below the head, all columns to the left if it is empty."""
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    return "\n".join([lines[0], aligned or "|" + "---|" * len(head), *lines[1:]])


def of_allocators(entries: list[dict]) -> list[str]:
    """The allocators in the order of their first entry."""
    return list(dict.fromkeys(entry["allocator"] for entry in entries))


def refill_row(point: dict, settings: str = "") -> list[str]:
    """One allocator: refilled bytes, who took the memory back, faults and time of a round, of all its calls together."""
    ways = [way for way in ("munmap", "madvise", "brk") if point.get(f"returned_by_{way}_bytes")]
    faults = sum(point[f"{part}_faults"] for part in ("calloc", "touch", "free"))
    time = sum(point[f"{part}_ns"]["median"] for part in ("calloc", "touch", "free"))
    return [f"{point['allocator']} {point['version']}{settings}", f"{point['refilled_bytes']:,}", ", ".join(ways),
            f"{faults:,.0f}", time_text(time)]


def refill_table(up: str = "") -> str:
    """8 buffers of 1 MiB: per round. `up` leads from the page to the top folder."""
    run = reference("refill_loop.json")
    rows = [refill_row(point) for point in run["points"]]
    kept = [refill_row(point, ", both thresholds raised") for point in reference("refill_loop_kept.json")["points"]]
    head = ["8 × 1 MiB, per round", "refilled bytes", "returned by", "page faults", "time"]
    return f"{table(head, [rows[0], *kept, *rows[1:]])}\n\n{machine(run, up)}"
