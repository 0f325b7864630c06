"""allocators/largecache/DESIGN.md: how many bytes of largecache's blocks were read, and whether all were zero."""
from __future__ import annotations

from reference_text import REFERENCE
from zerotax_plots.units import count_text

PAGE = "allocators/largecache/DESIGN.md"


def stress_block() -> str:
    """The last line of the longest run, with the policies that took part."""
    *rounds, total = (REFERENCE / "stress-largecache.txt").read_text(encoding="utf-8").splitlines()
    policies = sorted({line.split(":")[0] for line in rounds})
    size, _, what = total.partition(" ")
    what = what.replace(": ", ", ")
    return (f"Eight threads and a forking one, {', '.join(policies)} in turn: {count_text(int(size))} {what}\n"
            f"([results/reference](../../results/reference), stress-largecache.txt).")


BLOCKS = {"results/reference/stress-largecache.txt": stress_block}
