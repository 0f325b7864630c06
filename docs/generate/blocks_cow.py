"""docs/cow.md: what the programs of docs/examples/programs/ copied."""
from __future__ import annotations

from reference_text import REFERENCE, machine, reference, table
from zerotax_plots.units import count_text, size_text

PAGE = "docs/cow.md"
PROGRAMS = {"bigarray_python": "`bigarray.py`", "bigarray_ruby": "`bigarray.rb`", "prefork": "`prefork.c`"}


def said(name: str) -> str:
    """What the program said of itself; of workers, what each has written."""
    lines = (REFERENCE / "cow" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    if not lines[0].startswith("worker"):
        return lines[0]
    return f"its workers wrote {', '.join(line.split()[4] for line in lines)} pages of the table"


def row(name: str) -> list[str]:
    """One program: its children, who copied how much, and what the children got of new memory."""
    run = reference(f"cow/{name}.json")
    of = {child: [p["counts"] for p in run["processes"] if (p["parent"] != 0) == child] for child in (False, True)}
    copies = {child: count_text(sum(counts["copies"] for counts in of[child])) for child in of}
    zero_fills = count_text(sum(counts["zero_fills"] for counts in of[True]))
    return [PROGRAMS[name], count_text(len(of[True])), copies[False], copies[True],
            size_text(run["totals"]["copied_bytes"]), zero_fills, said(name)]


def examples_block() -> str:
    """A row a program, and in words when the child's copying ended."""
    head = ["program", "children", "copied by the parent", "by its children", "bytes", "children's zero-fills",
            "the program says"]
    python = reference("cow/bigarray_python.json")
    return (f"{table(head, [row(name) for name in PROGRAMS])}\n\n"
            f"In the JSON of `bigarray.py`, `sentence` is \"{python['sentence']}\"\n\n"
            f"In that of `bigarray.rb` it is \"{reference('cow/bigarray_ruby.json')['sentence']}\"\n\n"
            f"{machine(python, '../')}")


BLOCKS = {"results/reference/cow": examples_block}
