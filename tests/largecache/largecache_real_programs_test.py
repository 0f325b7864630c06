"""Common programs produce the same output with and without liblargecache.so. Programs that check themselves, and
servers, are in largecache_workloads_test.py.
"""

import random
import re
import subprocess
import sys

import pytest

from conftest import LONG_TOO
from preloading import LIBRARY, MIB, REPOSITORY, is_built, needs, run

pytestmark = is_built

# The extreme reserves make every cached block dirty, or every cached block madvised. With few entries, evictions are
# frequent. With a low threshold, the large heap serves far more blocks than by default.
CONFIGURATIONS = [
    {},
    {"LARGECACHE_RESERVE": "0"},
    {"LARGECACHE_RESERVE": "64GiB", "LARGECACHE_ENTRIES": "64"},
    {"LARGECACHE_THRESHOLD": "4096", "LARGECACHE_ENTRIES": "3", "LARGECACHE_RESERVE": "1MiB"},
    {"LARGECACHE_ENTRIES": "0"},
    {"LARGECACHE_POLICY": "adaptive"},
    {"LARGECACHE_POLICY": "adaptive", "LARGECACHE_THRESHOLD": "4096", "LARGECACHE_ENTRIES": "8"},
    {"LARGECACHE_POLICY": "purge", "LARGECACHE_THRESHOLD": "4096"},
]


# The configurations of ./run test: a full, dirty cache, and the policy that looks at pages.
SHORT = [CONFIGURATIONS[3], CONFIGURATIONS[6]]


def check_same(command, cwd=None):
    plain = run(command, preload=False, cwd=cwd)
    assert plain.returncode == 0, plain.stderr.decode(errors="replace")
    assert plain.stdout, "the program printed nothing to compare"
    for knobs in CONFIGURATIONS if LONG_TOO else SHORT:
        preloaded = run(command, preload=True, cwd=cwd, **knobs)
        assert preloaded.stderr == plain.stderr, knobs
        assert preloaded.returncode == 0, knobs
        assert preloaded.stdout == plain.stdout, knobs


PYTHON_PROGRAM = """
import hashlib, os, threading

def work(seed, out):
    digest = hashlib.sha256()
    kept = []
    for i in range(12):
        size = 100_000 + (seed * 7919 + i * 104_729) % 3_000_000
        block = bytearray(size)              # calloc
        assert not any(block[::4096]) and not any(block[-4096:])
        block[::997] = bytes([seed + i & 255]) * len(block[::997])
        block.extend(block[: size // 3])     # realloc, longer
        del block[len(block) // 3 :]         # realloc, shorter
        digest.update(block)
        kept.append(block)
        if len(kept) > 5:
            kept.pop(i % 5)
    out[seed] = digest.hexdigest()

out = {}
threads = [threading.Thread(target=work, args=(seed, out)) for seed in range(4)]
for thread in threads:
    thread.start()
# Children are born while the threads allocate.
for i in range(4):
    child = os.fork()
    if child == 0:
        mine = {}
        work(100 + i, mine)
        os._exit(0 if len(mine) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
for thread in threads:
    thread.join()
for seed in sorted(out):
    print(seed, out[seed])
"""


def test_python_threads_and_forks_with_large_bytearrays_print_the_same():
    check_same([sys.executable, "-W", "ignore", "-c", PYTHON_PROGRAM])


CXX_PROGRAM = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main() {
  std::map<std::string, std::vector<int>> found;
  std::string word;
  for (int c = 0, at = 0; (c = std::getchar()) != EOF; ++at) {
    if (c != ' ') { word += static_cast<char>(c); continue; }
    found[word].push_back(at);
    word.clear();
  }
  for (auto& [text, places] : found) {
    std::sort(places.begin(), places.end());
    std::printf("%s %zu\\n", text.c_str(), places.size());
  }
}
"""


@needs("g++")
def test_gcc_compiles_a_cxx_program_to_the_same_assembly(tmp_path):
    source = tmp_path / "words.cc"
    source.write_text(CXX_PROGRAM)
    check_same(["g++", "-std=c++20", "-O1", "-S", "-o", "-", str(source)])


@needs("git")
def test_git_log_shows_the_same_history(tmp_path):
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    git += ["-c", "gc.auto=0"]
    words = random.Random(116)
    lines = [f"{words.random()}\n" for _ in range(15_000)]  # about 280 kB
    subprocess.run(git + ["init", "-q"], cwd=tmp_path, check=True, capture_output=True)
    for commit in range(3):
        for _ in range(500):
            lines[words.randrange(len(lines))] = f"{commit} {words.random()}\n"
        (tmp_path / "numbers.txt").write_text("".join(lines))
        subprocess.run(git + ["add", "numbers.txt"], cwd=tmp_path, check=True)
        subprocess.run(git + ["commit", "-q", "-m", f"Change {commit}"], cwd=tmp_path, check=True)
    check_same(git + ["--no-pager", "log", "-p", "--stat"], cwd=tmp_path)


@needs("git")
def test_git_log_of_this_repository_is_the_same():
    git = ["git", "-c", f"safe.directory={REPOSITORY}", "--no-pager"]
    if run(git + ["rev-parse", "HEAD"], preload=False, cwd=REPOSITORY).returncode != 0:
        pytest.skip("not a git checkout with commits")
    check_same(git + ["log", "-p", "--stat", "-n", "5"], cwd=REPOSITORY)


@needs("sort")
def test_sort_orders_a_large_file_the_same(tmp_path):
    words = random.Random(116)
    numbers = tmp_path / "numbers.txt"
    numbers.write_text("".join(f"{words.getrandbits(64):016x}\n" for _ in range(200_000)))
    check_same(["sort", "--parallel=4", "-S", "2M", "-T", str(tmp_path), str(numbers)])


STATISTICS = """
import ctypes
class Statistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("hits", "misses", "evictions", "madvised", "zeroed_bytes",
                                                     "unmapped", "cached_bytes", "reserve_bytes", "entries",
                                                     "purged_bytes", "altered", "in_use_bytes", "peak_in_use_bytes", "tails")]
library = ctypes.CDLL(None)
library.calloc.restype = ctypes.c_void_p
library.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
library.largecache_version.restype = ctypes.c_char_p
def statistics():
    now = Statistics()
    library.largecache_statistics(ctypes.byref(now))
    return now
def rounds(count, size):
    before = statistics()
    for _ in range(count):
        library.free(library.calloc(1, size))
    after = statistics()
    return [getattr(after, name) - getattr(before, name) for name in ("hits", "misses", "zeroed_bytes", "unmapped")]
"""


def statistics_of(program, **knobs):
    done = run([sys.executable, "-c", STATISTICS + program], preload=True, **knobs)
    return done


def test_the_bug_of_2016_zeroes_100_mib_each_time_and_1000_mib_never():
    done = statistics_of(f"print(rounds(4, {100 * MIB}), rounds(4, {1000 * MIB}))")
    assert done.stdout.decode().strip() == f"[3, 1, {3 * 100 * MIB}, 0] [0, 4, 0, 4]"
    assert done.stderr == b""


def test_without_entries_nothing_is_cached_and_nothing_zeroed():
    done = statistics_of(f"print(rounds(10, {100 * MIB}))", LARGECACHE_ENTRIES="0")
    assert done.stdout.decode().strip() == "[0, 10, 0, 10]"


def test_an_unusable_knob_is_named_and_the_default_kept():
    done = statistics_of(f"print(rounds(10, {MIB})[0])", LARGECACHE_ENTRIES="many")
    assert done.stdout.decode().strip() == "9"
    assert done.stderr.decode() == (
        "largecache: LARGECACHE_ENTRIES=many is unusable; give a number from 0 to 64; keeping the default, 16\n"
    )


def test_a_double_free_stops_the_program_and_names_the_block():
    done = statistics_of(
        f"block = library.calloc(1, {MIB}); print(hex(block), flush=True); library.free(block); library.free(block)"
    )
    assert done.returncode == -6
    block = done.stdout.decode().strip()
    assert f"largecache: double free: block {block} has been freed before" in done.stderr.decode()


LINKED_PROGRAM = """
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "largecache.h"
int main(void) {
  struct largecache_statistics statistics;
  char* small = malloc(1000);
  char* large = calloc(1, 1 << 20);
  if (malloc_usable_size(small) < 1000 || malloc_usable_size(large) != 1 << 20) return 1;
  memset(large, 1, 1 << 20);
  free(large);
  large = calloc(1, 1 << 20);
  for (int i = 0; i < 1 << 20; i++) if (large[i] != 0) return 2;
  largecache_statistics(&statistics);
  printf("%s %llu\\n", largecache_version(), (unsigned long long)statistics.zeroed_bytes);
  free(large);
  free(small);
  return 0;
}
"""


@needs("gcc")
def test_a_program_linked_against_it_needs_no_preload(tmp_path):
    (tmp_path / "linked.c").write_text(LINKED_PROGRAM)
    program = tmp_path / "linked"
    subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-o", program, tmp_path / "linked.c"]
        + ["-I", REPOSITORY / "allocators" / "largecache", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"],
        check=True,
    )
    done = run([str(program)], preload=False)
    assert (done.returncode, done.stdout.decode()) == (0, f"0.1.0 (116) {MIB}\n")


@needs("readelf")
def test_the_library_exports_the_malloc_family_calls_memset_and_needs_only_libc():
    symbols = subprocess.run(["readelf", "-W", "--dyn-syms", LIBRARY], check=True, capture_output=True, text=True)
    exported = {
        line.split()[7]
        for line in symbols.stdout.splitlines()
        if re.search(r"\bGLOBAL\s+DEFAULT\s+\d+\s", line)
    }
    assert exported == {
        *("malloc", "calloc", "realloc", "reallocarray", "free", "aligned_alloc", "posix_memalign", "memalign"),
        *("valloc", "pvalloc", "malloc_usable_size", "largecache_version", "largecache_statistics"),
        "malloc_watches_its_mappings",
    }
    dynamic = subprocess.run(["readelf", "-W", "-d", "-r", LIBRARY], check=True, capture_output=True, text=True).stdout
    assert re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) == ["libc.so.6"]
    # The library must call memset through a GOT slot, where a meter can hook the call.
    assert re.search(r"(JUMP_SLOT|GLOB_DAT)\s+\S+\s+memset@", dynamic)
