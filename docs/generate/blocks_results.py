"""docs/results.md: the end of the study, and what refilling costs."""
from reference_text import REFERENCE, machine, reference, refill_table

PAGE = "docs/results.md"


def summary_block() -> str:
    """The table and sentences of the study's summary, without its heading."""
    text = (REFERENCE / "summary.md").read_text(encoding="utf-8")
    table = text[text.index("| one calloc"):]
    run = reference("run.json")
    return f"{table.strip()}\n\n{machine(run, '../')}"


BLOCKS = {"results/reference": summary_block, "results/reference/refill_loop.json": lambda: refill_table("../")}
