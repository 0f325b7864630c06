"""docs/refill.md: eight buffers of 1 MiB, freed together and needed again."""
from reference_text import refill_table

PAGE = "docs/refill.md"

BLOCKS = {"results/reference/refill_loop.json": lambda: refill_table("../")}
