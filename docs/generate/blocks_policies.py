"""docs/largecache.md: what each policy costs beside other allocators, and where adaptive is not the cheapest."""
from __future__ import annotations

from reference_text import or_na, reference, table
from zerotax_plots.units import number_text, plain_text, size_text, time_text

PAGE = "docs/largecache.md"
MIB = 1 << 20
SHOWN = ("glibc", "jemalloc", "mimalloc", "tcmalloc", "libmalloc-116", "purge", "memset", "dirty", "adaptive")


def time(ns: float | dict) -> str:
    """A time, or n/a."""
    return or_na(ns, time_text)


def share(cell: dict) -> str:
    """The share of pages that is touched."""
    return f"{plain_text(cell['touch'] * 100)} %"


def size_block() -> str:
    """A row an allocator or policy, a column a share, at 100 MiB."""
    run = reference("policies.json")
    cells = [cell for cell in run["groups"][0]["cells"] if cell["sizes"] == [100 * MIB]]
    rows = [[name, *(time(cell["contenders"][name]["ns"]) for cell in cells)] for name in SHOWN]
    rows.append(["limit", *(time(cell["limit_ns"]) for cell in cells)])
    return (f"Time of calloc + touch + free, 100 MiB, by share of pages touched:\n\n"
            f"{table(['', *map(share, cells)], rows)}\n\n"
            f"Measured on Linux {run['environment']['kernel']}, {run['environment']['cpu']}; every allocator and policy is in\n"
            "[policies.svg](../results/reference/policies.svg).")


def worst(cells: list[dict]) -> str:
    """The cell in which adaptive takes longest beside the cheapest of the others; empty if all are near it."""
    beyond = [cell for cell in cells if not cell["verdict"]["near_kept"]]
    if not beyond:
        return ""
    cell = max(beyond, key=lambda each: each["verdict"]["to_best_other"])
    sizes = " + ".join(map(size_text, cell["sizes"])) + (f", {cell['threads']} threads" if cell["threads"] > 1 else "")
    return f"{number_text(cell['verdict']['to_best_other'])} × {cell['verdict']['best_other']} ({sizes}, {share(cell)} touched)"


def promises_block() -> str:
    """How many cells are near the cheapest of all others, and the worst of each group."""
    rows = [[group["heading"], f"{sum(cell['verdict']['near_kept'] for cell in group['cells'])} of {len(group['cells'])}",
             worst(group["cells"])] for group in reference("policies.json")["groups"]]
    lines = ["| " + " | ".join(row) + " |" for row in [["access", "cells within 1.05 × the cheapest", "worst"], *rows]]
    return "\n".join([lines[0], "|:--|:--|:--|", *lines[1:]])


BLOCKS = {"results/reference/policies.json 100 MiB": size_block, "results/reference/policies.json promises": promises_block}
