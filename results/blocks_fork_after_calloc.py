"""docs/fork_after_calloc.md: what a fork costs after calloc, by allocator."""
from __future__ import annotations

from reference_text import duration, machine, of_allocators, reference, size_text, table

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
        return [duration(fork["fork_ns"]["median"]), size_text(fork["page_table_bytes"]),
                f"{child['copies']:,}", f"{child['zero_fills']:,}", duration(child["write_ns"]["median"]),
                f"{parent['copies']:,}", f"{parent['reuses']:,}", f"{parent['zero_fills']:,}",
                duration(parent["write_ns"]["median"])]
    found = points(case, touch)
    head = [f"{size_text(SIZE)}, touch {touch:g}", "fork", "page tables", "child: copies", "zero-fills", "time",
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
