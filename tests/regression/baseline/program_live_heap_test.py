"""The peak of the live heap of a command is exact. The programs add up the usable bytes of their own blocks for
comparison.
"""
import json
import subprocess

import pytest
from allocators_here import available, library_of
from conftest import KIB, LONG_TOO, MIB, check_schema, is_na, zerotax
from recording import PROGRAMS

LIVE = PROGRAMS / "live"
# With one thread, the peak is exact to the byte.
WAYS = ["known", "family", "realloc", "small", "random", "child", "handler", "exec", "early", "operators"]
# Programs that work under every allocator. All other programs need pvalloc, which some allocators lack, or the size of
# a block early in a process, which some allocators cannot report.
COMMON = [way for way in WAYS if way not in ("family", "early")] if LONG_TOO else ["realloc", "random"]


def blessed(folder, *command, **environment):
    """Returns the command's entry in a new baseline."""
    file = folder / "baseline.json"
    done = zerotax("bless", "--force", "--baseline", file, "--", *command, **environment)
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    check_schema(document, "program_baseline")
    [program] = document["programs"]
    file.unlink()
    return program


def peak_of(folder, *command, **environment):
    """Returns the counted peak. All runs must count the same peak."""
    return blessed(folder, *command, **environment)["metrics"]["peak_live_bytes"]


def beyond(folder, way, **environment):
    """Returns the difference between the counted peak and the program's own peak. The difference is the blocks that
    were live when main began.
    """
    own = folder / "peak"
    own.unlink(missing_ok=True)
    found = peak_of(folder, LIVE, way, own, **environment)
    assert found["low"] == found["high"], found
    return found["low"] - int(own.read_text())


@pytest.fixture(scope="module")
def at_start(tmp_path_factory):
    return beyond(tmp_path_factory.mktemp("live"), "none")


@pytest.mark.parametrize("way", WAYS)
def test_it_is_exact_for_one_thread(way, at_start, tmp_path):
    # Blocks that the C++ library allocates at its start.
    assert beyond(tmp_path, way) == at_start <= 128 * KIB


def test_threads_hold_their_blocks_at_the_same_time(at_start, tmp_path):
    # pthread_create also allocates for each of 8 threads.
    assert at_start <= beyond(tmp_path, "threads") <= at_start + 8 * KIB


@pytest.mark.parametrize("allocator", [
    pytest.param(name, marks=[available(name), *([pytest.mark.long("others show the same")] if rarely else [])])
    for name, rarely in (("jemalloc", False), ("mimalloc", True), ("tcmalloc", True), ("largecache", False))])
def test_it_is_exact_with_other_allocators(allocator, tmp_path):
    preload = {"LD_PRELOAD": library_of(allocator)}
    at_start = beyond(tmp_path, "none", **preload)
    # With gperftools' allocator, blocks count only if they were allocated after the allocator's own start. These are
    # the blocks of the C++ library.
    assert [beyond(tmp_path, way, **preload) for way in COMMON] == [pytest.approx(at_start, abs=64)] * len(COMMON)


def test_each_process_name_has_the_peak_of_its_worst_process(tmp_path):
    own = tmp_path / "peak"
    command = ["sh", "-c", f"{LIVE} handler {own}; {LIVE} known {own}; {LIVE} handler {own}"]
    whole = blessed(tmp_path, *command)
    peaks = {name: process["peak_live_bytes"] for name, process in whole["processes"].items()}
    assert whole["metrics"]["peak_live_bytes"] == peaks["live"] == peak_of(tmp_path, LIVE, "known", own)
    assert peaks["dash"]["high"] < MIB


def test_it_is_not_available_where_the_allocator_has_no_sizes(tmp_path):
    """The peak is neither 0 nor based on the size that the C library would compute for another allocator's block."""
    source, library = tmp_path / "plain.c", tmp_path / "plain.so"
    source.write_text("""
#include <stddef.h>
#include <string.h>
static char memory[1 << 30];
static size_t used;
void *malloc(size_t bytes) {
  void *block = memory + __atomic_fetch_add(&used, (bytes + 31) & ~(size_t)15, __ATOMIC_RELAXED) + 16;
  ((size_t *)block)[-1] = bytes;
  return block;
}
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *old, size_t bytes) {
  void *block = malloc(bytes);
  if (old) memcpy(block, old, ((size_t *)old)[-1] < bytes ? ((size_t *)old)[-1] : bytes);
  return block;
}
void free(void *block) { (void)block; }
""")
    subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", "-O1", source, "-o", library], check=True)
    found = peak_of(tmp_path, "true", LD_PRELOAD=library)
    assert is_na(found) and "malloc_usable_size" in found["na"], found


def test_a_baseline_of_an_earlier_version_is_compared_without_it(tmp_path):
    file = tmp_path / "baseline.json"
    assert zerotax("bless", "--baseline", file, "--", LIVE, "known", "/dev/null").returncode == 0
    document = json.loads(file.read_text())
    [program] = document["programs"]
    for part in [program["metrics"], *program["processes"].values(), *(site["numbers"] for site in program["sites"])]:
        del part["peak_live_bytes"]
    file.write_text(json.dumps(document))
    done = zerotax("check", "--full", "--baseline", file, "--", LIVE, "known", "/dev/null")
    assert done.returncode == 0 and done.stdout.startswith("same: 30 metrics"), done.stdout
    assert "not compared (an earlier version wrote this file): peak of live heap" in " ".join(done.stdout.split())
