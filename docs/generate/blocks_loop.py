"""docs/loop.md: the loop of 2016, and eight buffers of 1 MiB that are freed together and needed again."""
from __future__ import annotations

from reference_text import REFERENCE, machine, reference, refill_table

PAGE = "docs/loop.md"


def loop_block() -> str:
    """The first table, of 100 MiB, and what was measured where."""
    text = (REFERENCE / "loop.txt").read_text(encoding="utf-8").split("\n\n")[0]
    return f"```\n{text}\n```\n\n{machine(reference('loop.json'), '../')}"


BLOCKS = {"results/reference/loop.json": loop_block, "results/reference/refill_loop.json": lambda: refill_table("../")}
