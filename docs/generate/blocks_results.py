"""docs/results.md: what one calloc costs with each allocator."""
from reference_text import machine, reference, table
from zerotax_plots.units import size_text, time_text

PAGE = "docs/results.md"


def summary_row(allocator: dict) -> list[str]:
    """An allocator of the study's summary: its time at both sizes, where it zeroes redundantly, and its worst case."""
    worst = allocator["worst"]
    redundant = allocator["redundant"]
    case = "" if redundant["word"] == "never" else f"{time_text(worst['ns'])} at {size_text(worst['size_bytes'])}"
    return [allocator["label"], *(size["time"] for size in allocator["headline"]), redundant["text"], case]


def summary_block() -> str:
    """The study's summary, and the machine."""
    allocators = reference("summary.json")["allocators"]
    sizes = [f"calloc({size_text(size['size_bytes'])})" for size in allocators[0]["headline"]]
    rows = table(["calloc, then free", *sizes, "redundant zeroing at", "worst calloc"],
                 [summary_row(each) for each in allocators])
    return f"{rows}\n\n{machine(reference('run.json'), '../')}"


BLOCKS = {"results/reference/summary.json": summary_block}
