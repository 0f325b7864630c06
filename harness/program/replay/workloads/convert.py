"""Converts a trace of another recorder to a recording that `zerotax replay` reads.

Reads the text of glibc's mtrace(3), the binary trace of glibc's malloc-trace-utils, and the log of Firefox's logalloc.
None of these formats has the pages to which a program wrote, so all pages of a block count as written. mtrace does not
record threads.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "plots"))

from zerotax_plots.files import ResultsError, read_bytes  # noqa: E402
from zerotax_plots.output import named_path, write  # noqa: E402

KINDS = {kind: number for number, kind in enumerate(
    "malloc calloc aligned realloc free touched thread end fork time map unmap return huge".split())}
PART_BYTES = 1 << 18
MOST_SIZE = (1 << 64) - 1
MAGIC = b"ZTXCALLS"
COUNTS = ["minor_faults", "zero_fill_faults", "kernel_zeroed_bytes", "refilled_bytes", "returned_bytes", "zeroed_bytes",
          "redundant_zeroed_bytes", "mapping_calls", "peak_bytes"]
Call = tuple[int, int, str, list[int], str | None, str | None]  # process, thread, kind, sizes, old block, new block


class Unreadable(Exception):
    """Raised if the trace cannot be converted."""


def of_mtrace(lines: list[str]) -> Iterator[Call]:
    """Reads mtrace: "@ place + block size", "- block", and for realloc "< old" and "> new", or "!" if realloc failed.
    """
    old = None
    for number, line in enumerate(lines, 1):
        found = re.fullmatch(r"(?:@ \S+(?: \S+)? )?([-+<>!]) (0x[0-9a-f]+)(?: (0x[0-9a-f]+))?", line.strip())
        if found is None and not line.startswith("=") and line.strip():
            raise Unreadable(f"line {number}: {line.strip()[:60]}")
        if found is None:
            continue
        sign, block, size = found.groups()
        if sign in "+>" and size is None:
            raise Unreadable(f"line {number} has no size")
        if sign == "+":
            yield 0, 0, "malloc", [int(size, 16)], None, block
        elif sign == "-":
            yield 0, 0, "free", [], block, None
        elif sign == "<":
            old = block
        elif sign == ">":
            yield 0, 0, "realloc", [int(size, 16)], old, block


def of_logalloc(lines: list[str]) -> Iterator[Call]:
    """Reads logalloc: lines "PID TID CALL(ARGUMENTS)=#BLOCK". Blocks are numbered, and a number is reused after its
    block is freed.
    """
    kinds = {"malloc": "malloc", "calloc": "calloc", "realloc": "realloc", "free": "free", "memalign": "aligned",
             "posix_memalign": "aligned", "aligned_alloc": "aligned", "valloc": "aligned"}
    counts = {"calloc": 2, "realloc": 2, "memalign": 2, "posix_memalign": 2, "aligned_alloc": 2}
    for number, line in enumerate(lines, 1):
        found = re.fullmatch(r"(\d+) (?:(\d+) )?(\w+)\(([^)]*)\)(?:=(#\d+|\(nil\)|0x0|\d+))?", line.strip())
        if found is None:
            raise Unreadable(f"line {number}: {line.strip()[:60]}")
        process, thread, call, arguments, result = found.groups()
        if call not in kinds:
            continue
        words = [word.strip() for word in arguments.split(",")]
        if len(words) != counts.get(call, 1):
            raise Unreadable(f"line {number}: {call} has {len(words)} arguments: {line.strip()[:60]}")
        old = words.pop(0) if call in ("realloc", "free") else None
        sizes = [int(word) for word in words]
        if call == "calloc":
            sizes = [sizes[0] * sizes[1]]
        elif call == "valloc":
            sizes = [sizes[0], PAGE]
        elif kinds[call] == "aligned":
            sizes = [sizes[1], sizes[0]]
        new = result if result and result.startswith("#") and result != "#0" else None
        old = old if old and old.startswith("#") and old != "#0" else None
        if call == "free" and old or call != "free" and new:
            yield int(process), int(thread or 0), kinds[call], sizes, old, new


# A record of malloc-trace-utils: thread, kind of call in the lowest byte, ptr1 (old block), ptr2 (new block), size,
# size2 (alignment), size3, and padding. The first record has a magic number and the size of a pointer.
TRACE_RECORD = struct.Struct("<iI5Q16x")
TRACE_MAGIC = (255, 0x1234, 8)
TRACE_KINDS = ["", "malloc", "calloc", "free", "realloc", "aligned", "aligned", "aligned", "aligned"]
POSIX_MEMALIGN = 8
# The smallest alignment that valloc can return, for traces without alignments.
PAGE = 4096


def is_of_trace_utils(data: bytes) -> bool:
    """Whether the first record is that of malloc-trace-utils."""
    if len(data) < TRACE_RECORD.size:
        return False
    _, kind, old, _, size, _, _ = TRACE_RECORD.unpack_from(data)
    return (kind & 255, old, size) == TRACE_MAGIC


def of_trace_utils(data: bytes) -> Iterator[Call]:
    """Reads malloc-trace-utils: records of 64 bytes, in the order in which the calls began. Records that were never
    written are zero.
    """
    for number, record in enumerate(TRACE_RECORD.iter_unpack(data[:len(data) // TRACE_RECORD.size * TRACE_RECORD.size])):
        thread, flags, old, new, size, alignment, _ = record
        kind = flags & 255
        if kind in (0, TRACE_MAGIC[0]):
            continue
        if kind >= len(TRACE_KINDS):
            raise Unreadable(f"record {number} has a call of kind {kind}")
        call = TRACE_KINDS[kind]
        # For posix_memalign, `old` is its error. Traces have no alignment for valloc and pvalloc.
        before = "" if call == "aligned" or old == 0 else str(old)
        if kind == POSIX_MEMALIGN and old != 0 or call == "free" and not before or call != "free" and new == 0:
            continue
        sizes = [] if call == "free" else [size, alignment or PAGE] if call == "aligned" else [size]
        yield 0, thread, call, sizes, before or None, str(new) if call != "free" else None


class Process:
    """The events of a process, in the format of docs/replay.md."""

    def __init__(self) -> None:
        self.events = bytearray()
        self.blocks: dict[str, int] = {}
        self.threads: dict[int, int] = {}
        self.made = 0
        self.current = 0
        self.counts = dict.fromkeys(("mallocs", "callocs", "aligned", "reallocs", "frees", "maps", "unknown_frees"), 0)

    def number(self, value: int) -> None:
        """Returns a number as LEB128."""
        while value >= 128:
            self.events.append(value & 127 | 128)
            value >>= 7
        self.events.append(value)

    def event(self, kind: str, first: int) -> None:
        """Appends the first byte of an event, which holds the kind and `first` up to 15. The excess over 15 follows as
        a number.
        """
        self.events.append(KINDS[kind] | min(first, 15) << 4)
        if first >= 15:
            self.number(first - 15)

    def add(self, thread: int, kind: str, sizes: list[int], old: str | None, new: str | None) -> None:
        """Appends one call. Raises Unreadable if the size of the call is impossible."""
        if not all(0 <= size <= MOST_SIZE for size in sizes):
            raise Unreadable(f"impossible size in a call to {kind}: {sizes}")
        known = self.threads.setdefault(thread, len(self.threads))
        if known != self.current:
            self.event("thread", known)
            self.current = known
        block = self.blocks.pop(old, None)
        if kind == "free" and block is None:
            self.counts["unknown_frees"] += 1
            return
        self.counts[{"aligned": "aligned"}.get(kind, kind + "s")] += 1
        age = self.made - 1 - block if block is not None else -1
        self.event(kind, age if kind == "free" else age + 1 if kind == "realloc" else sizes[0])
        if kind == "aligned":
            self.number(max(sizes[1] - 1, 0).bit_length())
        elif kind == "realloc":
            self.number(sizes[0])
        if new is not None:
            self.blocks[new] = self.made
            self.made += 1

    def row(self, name: str) -> dict:
        """Returns the entry of a process in the last part of the file."""
        return {"name": name, "threads": len(self.threads), **self.counts, "lost_threads": 0, "image_zeroed_bytes": 0,
                "image_copied_bytes": 0}


def part(kind: int, process: int, raw: bytes) -> bytes:
    """Returns a part of the file."""
    stored = zlib.compress(raw)
    return struct.pack("<5I", kind, process, len(stored), len(raw), zlib.crc32(stored)) + stored


def converted(trace: Path) -> bytes:
    """Returns the recording for a trace. Raises Unreadable if the trace cannot be converted."""
    data = read_bytes(trace)
    lines = [] if is_of_trace_utils(data) else data.decode("utf-8", errors="replace").splitlines()
    if is_of_trace_utils(data):
        calls, format_name = of_trace_utils(data), "malloc-trace-utils"
    elif any(line.startswith(("= Start", "@ ")) for line in lines[:2]):
        calls, format_name = of_mtrace(lines), "mtrace"
    else:
        calls, format_name = of_logalloc(lines), "logalloc"
    processes: dict[int, Process] = {}
    for process, thread, *call in calls:
        processes.setdefault(process, Process()).add(thread, *call)
    if not processes:
        raise Unreadable("the trace has no calls")
    why = {"na": f"a trace of {format_name} has no counts"}
    about = {"schema": "zerotax.calls/1", "zerotax_version": "convert.py", "allocator": "", "env": [],
             "page_bytes": os.sysconf("SC_PAGESIZE"), "limited": False,
             "processes": [each.row(trace.stem) for each in processes.values()], "recorded": dict.fromkeys(COUNTS, why)}
    parts = [part(1, number, bytes(each.events[at:at + PART_BYTES]))
             for number, each in enumerate(processes.values()) for at in range(0, len(each.events), PART_BYTES)]
    return struct.pack("<8sII", MAGIC, 1, 0) + b"".join(parts) + part(2, 0, json.dumps(about).encode())


def main() -> int:
    """Returns the exit status: 2 if the trace has an unknown format or the output file cannot be written."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("trace", type=named_path, metavar="TRACE")
    parser.add_argument("out", type=named_path, metavar="OUT.calls")
    parser.add_argument("--force", action="store_true", help="replace a file that is not a recording of calls")
    given = parser.parse_args()
    try:
        data = converted(given.trace)
        write(given.out, data, lambda old: old.startswith(MAGIC), force=given.force, inputs=[given.trace])
    except ResultsError as failure:
        print(f"convert.py: {failure}", file=sys.stderr)
        return 2
    except (Unreadable, OSError, ValueError) as failure:
        why = getattr(failure, "strerror", None) or failure
        print(f"convert.py: {given.trace} is not a trace of mtrace, malloc-trace-utils or logalloc: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("convert.py: interrupted: nothing was written", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
