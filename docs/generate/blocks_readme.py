"""README.md: what the three commands of the tour print (docs/examples/tour.sh)."""
from __future__ import annotations

from collections.abc import Callable

from reference_text import REFERENCE

PAGE = "README.md"
COMMANDS = {
    "run": "zerotax run --allocator glibc --allocator jemalloc --allocator mimalloc --size 20MiB --size 100MiB",
    "record": "zerotax record -- python3 -c 'for _ in range(100): bytearray(20_000_000)'",
    "cow": "zerotax cow -- python3 server.py",
}


def printed(name: str, first: str, lines: int) -> Callable[[], str]:
    """A block: the command, and so many lines of what it printed, from the one that holds `first`."""
    def block() -> str:
        text = (REFERENCE / "tour" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        begin = next(i for i, line in enumerate(text) if first in line)
        shown = "\n".join(text[begin:begin + lines]).rstrip()
        more = "\n..." if begin + lines < len(text) else ""
        return f"```\n$ {COMMANDS[name]}\n{shown}{more}\n```"
    return block


BLOCKS = {
    "results/reference/tour/run.txt": printed("run", "allocator", 7),
    "results/reference/tour/record.txt": printed("record", "Zeroing took", 11),
    "results/reference/tour/cow.txt": printed("cow", " pages copied", 6),
}
