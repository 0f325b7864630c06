"""docs/loop.md: eight buffers of 1 MiB that are freed together and needed again."""
from __future__ import annotations

from reference_text import refill_table

PAGE = "docs/loop.md"


BLOCKS = {"results/reference/refill_loop.json": lambda: refill_table("../")}
