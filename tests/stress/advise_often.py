#!/usr/bin/python3
"""Runs `zerotax advise` repeatedly on the programs whose best remedy is known, and counts the correct lines.

Usage: advise_often.py TIMES, in the source folder. ZEROTAX_BUILD is the build folder. Exit status 1 if a line was
wrong.
"""

import os
import pathlib
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]),
                str(pathlib.Path(__file__).resolve().parents[1] / "support")]

from advising import PROGRAMS, advise  # noqa: E402
from allocators_here import library_of  # noqa: E402


def keeps_its_heap(found):
    return "MALLOC_TRIM_THRESHOLD_=1073741824 " in (found.advice["line"] or "")


def has_another_allocator(found):
    line = found.advice["line"] or ""
    return line.startswith("LD_PRELOAD=") and "mimalloc" not in line


def is_by_hand(found):
    return found.advice["line"] is None and "by_hand.c:" in found.advice["sentence"]


def is_frugal(found):
    line = found.advice["line"] or ""
    return "FRUGAL=1" in line and "GREEDY=1" in (found.advice["faster_still"] or {"line": ""})["line"]


def cases():
    """Yields name, arguments of advise(), and the function that checks the line of advise."""
    for name in ("refill_by_trim", "refill_by_mmap", "forks", "hates_jemalloc"):
        yield name, {}, keeps_its_heap
    yield "redundant_calloc", {"LD_PRELOAD": library_of("mimalloc")}, has_another_allocator
    yield "by_hand", {}, is_by_hand
    yield "greedy", {"options": ["--all", "--env", "glibc:GREEDY=1", "--env", "glibc:FRUGAL=1"]}, is_frugal


def main():
    wrong = 0
    for name, given, is_right in cases():
        right, seconds = 0, []
        for _ in range(int(sys.argv[1])):
            began = time.monotonic()
            found = advise(PROGRAMS / name, **given)
            seconds.append(time.monotonic() - began)
            if is_right(found):
                right += 1
            else:
                wrong += 1
                print(found.out)
        print(f"{name}: {right} of {len(seconds)} right, {min(seconds):.0f} to {max(seconds):.0f} s each, "
              f"load {os.getloadavg()[0]:.1f}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
