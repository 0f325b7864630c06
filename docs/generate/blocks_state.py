"""Blocks of docs/state-of-zeroing-2026.md: sentences with numbers from several files or many programs."""
from __future__ import annotations

import statistics
import textwrap

from blocks_allocator import YEARS, measured_lines, turns_of
from blocks_program import ALLOCATOR, measured, summary
from reference_text import block, reference
from zerotax_plots.histories import Version, load_all, short, word_at
from zerotax_plots.bill import bounds
from zerotax_plots.units import percent_text, size_text, time_text

PAGE = "docs/state-of-zeroing-2026.md"
SIZE = 1 << 30


def wrapped(text: str) -> str:
    """Wraps the text at the line length of a page."""
    return "\n".join(textwrap.wrap(text, 140, break_long_words=False, break_on_hyphens=False))


@block(PAGE, "/summary.json")
def study_block() -> str:
    """Returns the two sentences of the study that compare all allocators with one another."""
    texts = {each["subject"]: each["text"] for each in reference("summary.json")["sentences"]}
    return "\n\n".join(wrapped(texts[subject]) for subject in ("Redundant zeroing", "Worst case"))


@block(PAGE, "/bill.json")
def bill_block() -> str:
    """Returns the share of CPU time that zeroing costs the programs, and the largest share of zeros that an allocator
    wrote itself.
    """
    run = reference("bill.json")
    records = [its["recorded"] for its in measured(run)]
    own = max(sum(row["at_least_cpu_ns"] for row in each["causes"] if row["cause"] in ALLOCATOR) / each["cpu_ns"]
              for each in records)
    middle = statistics.median(bounds(each)[0] for each in records)
    return wrapped(
        f"{summary(run)} The median program spends {percent_text(middle)} of its CPU time on zeroing. Zeros that the allocator "
        f"wrote itself take at most {percent_text(own)} of any program's CPU time. The kernel does most other zeroing, "
        "one page fault at a time, on a virtual machine where page faults are expensive.")


@block(PAGE, "/years")
def years_block() -> str:
    """Returns how many releases zero needlessly, between which releases this zeroing began or ended, and the
    exceptions.
    """
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
        f"some of these sizes{exceptions}. Needless zeroing began {turned(1)}. "
        f"Needless zeroing ended {turned(0)}.")


@block(PAGE, "/fork_after_calloc.json")
def fork_block() -> str:
    """Returns the range of fork's times with an untouched block of 1 GiB, for allocators whose calloc left the block
    alone, and for those that zeroed it.
    """
    forks = {each["allocator"]: each["fork"] for each in reference("fork_after_calloc.json")["points"]
             if each["case"] == "fork_after_calloc" and each["size_bytes"] == SIZE and each["touch"] == 0}
    zeroed = [name for name, fork in forks.items() if fork["populated_bytes"] >= SIZE]

    def times(names: list[str]) -> str:
        medians = [forks[name]["fork_ns"]["median"] for name in names]
        return f"{time_text(min(medians))} to {time_text(max(medians))}"

    left = [name for name in forks if name not in zeroed]
    return wrapped(
        f"With an untouched block of {size_text(SIZE)}, fork takes {times(left)} if calloc left the block alone, and "
        f"{times(zeroed)} if calloc zeroed it ({', '.join(zeroed)}). After a zeroing calloc, parent and child copy pages "
        "of zeros.")
