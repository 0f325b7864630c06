"""docs/loop.md: the loop of 2016, as the command shows it."""
from reference_text import REFERENCE, machine, reference

PAGE = "docs/loop.md"


def loop_block() -> str:
    """The first table, of 100 MiB, and what it says of redundant zeroing."""
    text = (REFERENCE / "loop.txt").read_text(encoding="utf-8").strip()
    return f"```\n{text}\n```\n\n{machine(reference('loop.json'), '../')}"


BLOCKS = {"results/reference/loop.json": loop_block}
