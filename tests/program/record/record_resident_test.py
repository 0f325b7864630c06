"""`zerotax record --resident` divides resident memory. The recorded program knows its own blocks, finds by itself which of
their pages are resident and free, and the two agree to the page.
"""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import MIB, PAGE, ZEROTAX, clean_environment
from recording import PROGRAMS, record

RESIDENT = PROGRAMS / "resident"
PARTS = ("live", "free", "fragmented", "offered", "allocator", "stack", "other")
# Pages that the program touches after it has counted them: its stack, and its last calls.
AFTERWARDS = 16 * PAGE


def resident(way, folder, *options, **environment):
    """Returns the recording, and what each process says of itself."""
    says = folder / "says.json"
    found = record(RESIDENT, way, says, options=("--resident", *options), **environment)
    for process in found.json["resident"]["processes"]:
        for moment in process["moments"]:
            parts = moment["parts"]
            assert sum(parts[f"{part}_bytes"] for part in PARTS) == parts["resident_bytes"]
    return found, [json.loads(line) for line in says.read_text().splitlines()] if says.exists() else []


def moment_of(found, pid, name="end"):
    [process] = [p for p in found.json["resident"]["processes"] if p["pid"] == pid]
    assert process["why_not"] == ""
    [moment] = [m for m in process["moments"] if m["moment"] == name]
    return moment


def check_equal(found, own):
    """Compares the end of a process with its own numbers."""
    parts = moment_of(found, own["pid"])["parts"]
    assert parts["free_bytes"] + parts["offered_bytes"] == own["free"]
    # The C library has some blocks, too.
    assert 0 <= parts["live_bytes"] - own["live"] <= 200_000
    assert 0 <= parts["live_bytes"] + parts["fragmented_bytes"] - own["on_live_pages"] <= 300_000
    assert own["anonymous"] <= parts["resident_bytes"] <= own["anonymous"] + AFTERWARDS


ALLOCATORS = [None, "jemalloc", "mimalloc", "tcmalloc", "largecache", "scudo"]


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("way", ["pinned", "mixed", "threads", "forked"])
def test_parts_are_those_that_the_program_finds_itself(way, allocator, tmp_path):
    found, said = resident(way, tmp_path, *(("--allocator", allocator) if allocator else ()))
    assert found.status == 0 and said
    for own in said:
        check_equal(found, own)
