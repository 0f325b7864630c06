"""`zerotax-prove-calls` reaches the events that its kinds of episodes aim at, and ends in time under every library."""
import os
import pathlib
import subprocess
import time

import pytest
from conftest import BUILD, PLANTED

pytestmark = pytest.mark.timeout(300)
PROCESS = BUILD / "libexec" / "zerotax-prove-calls"
if not PROCESS.exists():
    pytest.skip("zerotax-prove-calls is not built with a sanitizer", allow_module_level=True)
HEAD_BYTES, OP_BYTES = 65536, 32
# An allocator of mappings. Each call of malloc and calloc calls hook().
FAMILY = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void hook(void);
static size_t* header(void* block) { return (size_t*)((char*)block - 16); }
static void* map(size_t bytes) {
  char* at = bytes > PTRDIFF_MAX ? MAP_FAILED : mmap(NULL, bytes + 16, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return NULL;
  *(size_t*)at = bytes;
  return at + 16;
}
void free(void* block) { if (block) munmap(header(block), *header(block) + 16); }
void* malloc(size_t bytes) { hook(); return map(bytes); }
void* calloc(size_t n, size_t m) { size_t bytes; hook(); return __builtin_mul_overflow(n, m, &bytes) ? NULL : map(bytes); }
void* realloc(void* block, size_t bytes) {
  void* moved = map(bytes);
  if (block && moved) memcpy(moved, block, *header(block) < bytes ? *header(block) : bytes), free(block);
  return moved;
}
"""
HOSTILE = {
    "exits_when_loaded": ("static void hook(void) {} __attribute__((constructor)) static void load(void) { _exit(0); }", 3,
                          "stopped the library ends the program with status 0 before its first call"),
    "hangs_when_loaded": ("static void hook(void) {} __attribute__((constructor)) static void load(void) { pause(); }", 3,
                          "stopped a program in which the library is loaded does not start within 8 s"),
    "exits_later": ("static int n; static void hook(void) { if (++n == 900) exit(0); }", 1, "finding exited"),
    "hangs_later": ("static int n; static void hook(void) { if (++n == 900) for (;;) pause(); }", 1, "finding hung"),
    # A mistake of this test ends after 20 s.
    "forks_without_end": ("static void hook(void) { if (fork() == 0) alarm(20); }", 3,
                          "stopped the library starts processes without end"),
    # printf would call malloc, which would call the hook again.
    "prints": (r'static void hook(void) { write(1, "finding not_zero id=1\n", 22); }', 0, "features"),
    "lies": ("static void hook(void) {} size_t malloc_usable_size(void* p) { return *header(p) + 100000000; }", 1,
             "finding usable_too_large"),
    "lies_little": ("static void hook(void) {} size_t malloc_usable_size(void* p) { return *header(p) / 2; }", 1,
                    "finding usable_too_small"),
}


def run(record, *words, **variables):
    return subprocess.run([str(word) for word in [PROCESS, "--record", record, *words]], env=os.environ | variables,
                          capture_output=True, text=True, timeout=200, check=False)


def built(folder, code):
    source, library = folder / "library.c", folder / "library.so"
    source.write_text(FAMILY + code)
    subprocess.run(["cc", "-w", "-O1", "-fno-builtin", "-fPIC", "-shared", "-o", library, source], check=True)
    return library


def counters(done):
    """Returns the numbers of each line, by the words before the numbers."""
    found = {}
    for line in done.stdout.splitlines():
        words = line.split()
        name = " ".join(word for word in words[:2] if not word[0].isdigit())
        found[name] = [float(word) for word in words[1:] if word.replace(".", "").isdigit()]
    return found


@pytest.mark.parametrize("kind", ["mixed", "reuse", "free_running", "pauses"])
def test_the_c_library_is_clean_in_each_kind_of_episode(tmp_path, kind):
    done = run(tmp_path / "record", "--kind", kind, "--cpu-seconds", 1, "--seconds", 100)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    found = counters(done)
    assert found[f"episodes_of_kind {kind}"][0] == found["seconds"][1] > 0 and found["zeroing_calls"][0] > 0


@pytest.mark.parametrize("name, kind", [
    ("trim_forgets_pad", "reuse"), ("threshold_itself", "reuse"), ("mark_survives_huge", "reuse"), ("fallback_is_fresh", "reuse"),
    ("reserve_is_fresh", "reuse"), ("publishes_before_marking", "free_running")])
def test_a_kind_of_episode_finds_what_it_is_for(tmp_path, name, kind):
    library = PLANTED / "proved" / f"lib{name}.so"
    done = run(tmp_path / "record", "--kind", kind, "--size", 131072, "--seconds", 150, "--preload", library)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "finding not_zero" in done.stdout


def test_one_thread_repeats_by_its_seed(tmp_path):
    records = []
    for number in range(2):
        record = tmp_path / str(number)
        done = run(record, "--seed", 5, "--threads", 1, "--jobs", 1, "--guide", 0, "--kind", "mixed", "--calls", 50,
                   "--seconds", 100)
        assert done.returncode == 0, done.stdout
        data = record.read_bytes()
        records.append(data[HEAD_BYTES:HEAD_BYTES + 100 * OP_BYTES])
    assert records[0] == records[1] and any(records[0])


def test_episodes_that_reach_something_new_are_changed(tmp_path):
    found = counters(run(tmp_path / "record", "--cpu-seconds", 3, "--seconds", 100))
    kept, changed = found["kept_episodes"][:2]
    assert kept > 0 and changed > 0 and found["features"][0] > 100


def test_pages_that_nobody_zeroed_are_counted(tmp_path):
    """free of this allocator takes a block for zero if it begins with zeros. calloc does not write to such a block."""
    library = PLANTED / "proved" / "libsamples_first_bytes.so"
    done = run(tmp_path / "record", "--kind", "reuse", "--without", "not_zero", "--without", "contents_changed",
               "--cpu-seconds", 8, "--seconds", 150, "--preload", library)
    found = counters(done)
    if "zeroed_by_nobody na" in found:
        pytest.skip("this kernel cannot watch pages")
    watched, by_nobody = found["watched_pages"][:2]
    assert watched >= by_nobody > 0, done.stdout


@pytest.mark.parametrize("name", HOSTILE)
def test_no_library_keeps_it_from_ending_in_time(tmp_path, name):
    code, status, line = HOSTILE[name]
    begin = time.monotonic()
    done = run(tmp_path / "record", "--seconds", 12, "--preload", built(tmp_path, code))
    assert time.monotonic() - begin < 12 + 10
    assert done.returncode == status, done.stdout + done.stderr
    assert any(each.startswith(line) for each in done.stdout.splitlines()), done.stdout


def test_a_library_without_calloc_is_refused(tmp_path):
    source, library = tmp_path / "some.c", tmp_path / "some.so"
    source.write_text("#include <stddef.h>\nstatic char all[1 << 24]; static size_t used;\n"
                      "void* malloc(size_t n) { used += (n + 31) & ~15ul; return all + used; } void free(void* p) {}")
    subprocess.run(["cc", "-w", "-fno-builtin", "-fPIC", "-shared", "-o", library, source], check=True)
    done = run(tmp_path / "record", "--seconds", 5, "--preload", library)
    assert (done.returncode, done.stderr) == (2, "the library has no calloc beside its free\n")


def test_no_process_of_a_library_stays(tmp_path):
    marker = f"stays{os.getpid()}"
    code = (f'static int n; static void hook(void) {{ if (++n == 40 && fork() == 0) {{ setsid(); '
            'unsetenv("LD_PRELOAD"); '  # otherwise each sleep would load the library, and fork again
            f'execlp("sleep", "{marker}", "1000", NULL); _exit(0); }} }}')
    done = run(tmp_path / "record", "--seconds", 5, "--preload", built(tmp_path, code))
    assert counters(done)["stray_processes"][0] > 0, done.stdout
    lines = [path.read_bytes() for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(marker.encode() in line for line in lines)
