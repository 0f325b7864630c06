"""docs/fork_after_calloc.md: what a fork costs after calloc, by allocator."""
from __future__ import annotations

from reference_text import machine, of_allocators, reference, table
from zerotax_units import count_text, plain_text, size_text, time_text

PAGE = "docs/fork_after_calloc.md"
SIZE = 1 << 30


def points(case: str, touch: float) -> dict[str, dict]:
    """The points of the largest size, by allocator."""
    run = reference("fork_after_calloc.json")
    return {p["allocator"]: p for p in run["points"]
            if (p["case"], p["touch"], p["size_bytes"], p["status"]) == (case, touch, SIZE, "ok")}


def fork_table(case: str, touch: float) -> str:
    """Fork and the writes after it, one line an allocator."""
    def cells(fork: dict) -> list[str]:
        child, parent = fork["child"], fork["parent"]
        return [time_text(fork["fork_ns"]["median"]), size_text(fork["page_table_bytes"]),
                count_text(child["copies"]), count_text(child["zero_fills"]), time_text(child["write_ns"]["median"]),
                *(count_text(parent[kind]) for kind in ("copies", "reuses", "zero_fills")),
                time_text(parent["write_ns"]["median"])]
    found = points(case, touch)
    head = [f"{size_text(SIZE)}, touch {plain_text(touch)}", "fork", "page tables", "child: copies", "zero-fills", "time",
            "parent: copies", "reuses", "zero-fills", "time"]
    return table(head, [[name, *cells(found[name]["fork"])] for name in of_allocators(list(found.values()))])


def small_block() -> str:
    run = reference("fork_after_calloc.json")
    return f"{fork_table('fork_after_calloc', 0)}\n\n{machine(run, '../')}"


def touched_block() -> str:
    return fork_table("fork_after_calloc", 1)


def huge_block() -> str:
    return f"{fork_table('fork_after_calloc_huge', 0)}\n\n{fork_table('fork_after_calloc_huge', 1)}"


BLOCKS = {"results/reference/fork_after_calloc.json untouched": small_block,
          "results/reference/fork_after_calloc.json touched": touched_block,
          "results/reference/fork_after_calloc.json huge": huge_block}
