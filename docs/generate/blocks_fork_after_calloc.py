"""docs/fork_after_calloc.md: what a fork costs after calloc, by allocator."""
from __future__ import annotations

from reference_text import machine, of_allocators, reference, table
from zerotax_plots.units import count_text, size_text, time_text

PAGE = "docs/fork_after_calloc.md"
SIZE = 1 << 30


def points(case: str, touch: float) -> dict[str, dict]:
    """The points of the largest size, by allocator."""
    run = reference("fork_after_calloc.json")
    return {p["allocator"]: p for p in run["points"]
            if (p["case"], p["touch"], p["size_bytes"], p["status"]) == (case, touch, SIZE, "ok")}


def small_block() -> str:
    """Fork and the writes after it, one line for each allocator: a block that the program never wrote."""
    def cells(fork: dict) -> list[str]:
        child, parent = fork["child"], fork["parent"]
        return [time_text(fork["fork_ns"]["median"]), size_text(fork["page_table_bytes"]),
                count_text(child["copies"]), count_text(child["zero_fills"]), time_text(child["write_ns"]["median"]),
                *(count_text(parent[kind]) for kind in ("copies", "reuses", "zero_fills")),
                time_text(parent["write_ns"]["median"])]
    found = points("fork_after_calloc", 0)
    head = [f"{size_text(SIZE)}, touch 0", "fork", "page tables", "child: copies", "zero-fills", "time",
            "parent: copies", "reuses", "zero-fills", "time"]
    rows = table(head, [[name, *cells(found[name]["fork"])] for name in of_allocators(list(found.values()))])
    return f"{rows}\n\n{machine(reference('fork_after_calloc.json'), '../')}"


def others_block() -> str:
    """The time of fork alone: a block that the program wrote, and huge pages."""
    columns = [points(case, touch) for case, touch in (("fork_after_calloc", 1), ("fork_after_calloc_huge", 0),
                                                       ("fork_after_calloc_huge", 1))]
    rows = [[name, *(time_text(found[name]["fork"]["fork_ns"]["median"]) for found in columns)]
            for name in of_allocators(list(columns[0].values()))]
    return table([f"{size_text(SIZE)}, time of fork", "touch 1", "huge pages, touch 0", "huge pages, touch 1"], rows)


BLOCKS = {"results/reference/fork_after_calloc.json untouched": small_block,
          "results/reference/fork_after_calloc.json others": others_block}
