"""docs/state-of-zeroing-2026.md: the sentence of each finding that has figures of several files, or of many programs."""
from __future__ import annotations

import statistics
import textwrap

from blocks_bill import ALLOCATOR, measured, summary
from blocks_years import YEARS, measured_lines, turns_of
from reference_text import reference
from zerotax_plots.histories import Version, load_all, short, word_at
from zerotax_plots.shares import bounds
from zerotax_plots.units import percent_text, size_text, time_text

PAGE = "docs/state-of-zeroing-2026.md"
SIZE = 1 << 30


def wrapped(text: str) -> str:
    """Lines as long as those of a page."""
    return "\n".join(textwrap.wrap(text, 140, break_long_words=False, break_on_hyphens=False))


def study_block() -> str:
    """The two sentences of the study that compare all allocators."""
    texts = {each["subject"]: each["text"] for each in reference("summary.json")["sentences"]}
    return "\n\n".join(wrapped(texts[subject]) for subject in ("Redundant zeroing", "Worst case"))


def bill_block() -> str:
    """What the programs pay, and how little of it their allocators write themselves."""
    run = reference("bill.json")
    records = [its["recorded"] for its in measured(run)]
    own = max(sum(row["at_least_cpu_ns"] for row in each["causes"] if row["cause"] in ALLOCATOR) / each["cpu_ns"]
              for each in records)
    middle = statistics.median(bounds(each)[0] for each in records)
    return wrapped(
        f"{summary(run)} The median program spends {percent_text(middle)} of its CPU time on zeroing; the zeros that an "
        f"allocator wrote itself are at most {percent_text(own)} of any program's. The rest is the kernel's, "
        "page fault by page fault, on a virtual machine whose page faults are dear.")


def years_block() -> str:
    """How many releases zero needlessly, which began and which ceased to, and who never does."""
    documents = load_all(YEARS).run["histories"]
    sizes = documents[0]["grid"]["sizes"]

    def needless(version: Version) -> bool:
        return any(word_at(version, size) == "needless" for size in sizes)

    def turned(place: int) -> str:
        sizes_of: dict[str, list[int]] = {}
        for document in documents:
            for turn in (each for line in measured_lines(document) for each in turns_of(document, line)):
                if turn.words[place] == "needless":
                    sizes_of.setdefault(f"{document['allocator']} {' and '.join(turn.between)}", []).append(turn.size)
        return "; ".join(f"between {names} {at(some)}" for names, some in sizes_of.items()) or "with none of them"

    def at(some: list[int]) -> str:
        return "at " + ", ".join(map(size_text, some))

    known = [(f"{document['allocator']} {short(version['name'])}", version)
             for document in documents for line in measured_lines(document) for version in line]
    never = [name for name, version in known if not needless(version)]
    exceptions = f"; {' and '.join(never)} {'do' if len(never) > 1 else 'does'} not" if never else ""
    return wrapped(
        f"Of {len(known)} releases of {len(documents)} allocators since {min(version['date'] for _, version in known)[:4]}, "
        f"{len(known) - len(never)} write zeros needlessly once a block of the same size has been freed, {at(sizes)} or at "
        f"some of these sizes{exceptions}. That began {turned(1)}. "
        f"It ended {turned(0)}.")


def fork_block() -> str:
    """Fork with a block of 1 GiB that nobody wrote: where calloc left it alone, and where it zeroed it."""
    forks = {each["allocator"]: each["fork"] for each in reference("fork_after_calloc.json")["points"]
             if each["case"] == "fork_after_calloc" and each["size_bytes"] == SIZE and each["touch"] == 0}
    zeroed = [name for name, fork in forks.items() if fork["populated_bytes"] >= SIZE]

    def times(names: list[str]) -> str:
        medians = [forks[name]["fork_ns"]["median"] for name in names]
        return f"{time_text(min(medians))} to {time_text(max(medians))}"

    left = [name for name in forks if name not in zeroed]
    return wrapped(
        f"With an untouched block of {size_text(SIZE)}, fork takes {times(left)} where calloc left the block alone, and "
        f"{times(zeroed)} where it zeroed it ({', '.join(zeroed)}). Both processes then copy pages that hold nothing but zeros.")


BLOCKS = {"results/reference/summary.json": study_block, "results/reference/bill.json": bill_block,
          "results/reference/years": years_block,
          "results/reference/fork_after_calloc.json": fork_block}
