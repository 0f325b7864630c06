#!/usr/bin/env python3
"""A list that grows in a forked child: which pages does the child copy, and when does copying end?

usage: bigarray.py [SHARED [ADDED [SECONDS]]]     (default: 200000 300000 6)

The parent makes SHARED dicts and drops every second dict, so its heap has a hole beside each remaining dict. After the
fork, the child appends ADDED dicts to a list, spread over SECONDS. The new dicts first fill the holes. The kernel copies
each page with a filled hole, because the parent still has the page. When no hole remains, the interpreter asks for new
memory, and copying ends.

At the end, the child prints the number of pages that it wrote: pages with dicts of the parent, and other pages.
"""
import os
import sys
import time

PAGE = os.sysconf("SC_PAGESIZE")
STEPS = 100


def pages_of(things):
    """Returns the pages in which the objects begin. In CPython, id() is an address."""
    return {id(thing) // PAGE for thing in things}


def grow(filled, count):
    """Appends this many dicts."""
    for _ in range(count):
        filled.append({})


def fill(added, seconds):
    """Does the child's work. Returns the dicts that the child made."""
    filled = []
    for step in range(STEPS):
        grow(filled, added * (step + 1) // STEPS - added * step // STEPS)
        time.sleep(seconds / STEPS)
    return filled


def main():
    """Forks once, and returns the exit status of the child."""
    try:
        given = [float(word) for word in sys.argv[1:]]
    except ValueError:
        given = [-1.0]
    if len(given) > 3 or not all(0 <= value < 1e9 for value in given):
        print("usage: bigarray.py [SHARED [ADDED [SECONDS]]], numbers from 0 to 1e9", file=sys.stderr)
        return 2
    shared, added, seconds = given + [200000, 300000, 6][len(given):]
    things = [{} for _ in range(int(shared))]
    del things[::2]
    before = pages_of(things)
    child = os.fork()
    if child != 0:
        # Meanwhile the parent writes to none of these pages, so each copy is the child's.
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    written = pages_of(fill(int(added), seconds))
    print(f"the child wrote {len(written & before)} pages of its parent and {len(written - before)} others", flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
