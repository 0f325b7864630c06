"""--allocator NAME=deb:RELEASE/PACKAGE measures packages of other releases, with the C library of their release if they
may need it.
"""

import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, MIB, is_na, measure, zerotax

CACHE = BUILD / "tests" / "cache"
ALLOCATORS = ["--allocator", "newest=deb:sid/libc6", "--allocator", "other=deb:bookworm/libjemalloc2"]


@pytest.fixture(name="run", scope="module")
def measured():
    """A run with two libraries: one uses the C library of its release, the other uses this system's C library."""
    done = zerotax("run", *ALLOCATORS, "--size", MIB, "--ops", 3, XDG_CACHE_HOME=CACHE, timeout=600)
    if done.returncode == 3 and "cannot fetch" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return measure(*ALLOCATORS, "--size", MIB, "--ops", 3, XDG_CACHE_HOME=CACHE)


def test_glibc_of_another_release_is_measured_as_itself(run):
    here = measure("--allocator", "glibc", "--size", MIB, "--ops", 3)["points"][0]
    newest, other = run["points"]
    assert newest["allocator"] == "newest" and newest["version"] != here["version"]
    ours = os.confstr("CS_GNU_LIBC_VERSION").split()[1]
    assert tuple(map(int, newest["version"].split("."))) > tuple(map(int, ours.split(".")))
    assert other["version"].startswith("5.3.0")
    for point in (newest, other):
        assert not is_na(point["zeroed_bytes"]) and not is_na(point["calloc_syscalls"])
    assert newest["zeroed_bytes"] >= MIB and newest["zeroed_method"] == "memset"


@pytest.mark.usefixtures("run")
def test_a_second_run_fetches_nothing_and_a_program_is_refused_what_it_cannot_load():
    done = zerotax("record", "--allocator", "newest=deb:sid/libc6", "--", "true", XDG_CACHE_HOME=CACHE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "C library of its release" in done.stderr


CC = shutil.which("cc")
ALLOCATOR = r"""
#include <stddef.h>
#include <string.h>
static struct block { size_t bytes, padding; char memory[]; } *next;
static char heap[1 << 26];
void *malloc(size_t bytes) {
  if (next == NULL) next = (struct block *)heap;
  struct block *own = next;
  own->bytes = bytes;
  next = (struct block *)(own->memory + (bytes + 15) / 16 * 16);
  return own->memory;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *block, size_t bytes) {
  void *other = malloc(bytes);
  if (block == NULL) return other;
  size_t had = ((struct block *)block - 1)->bytes;
  return memcpy(other, block, had < bytes ? had : bytes);
}
"""


def loader_of(program):
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.search(r"^\s*(/\S*ld-linux\S*)", said, re.MULTILINE).group(1)


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
@pytest.mark.parametrize(("more", "missing"), [("", ""), ("int g(void); int f(void) { return g(); }", "undefined symbol: g")])
def test_a_library_of_a_newer_release_is_refused_only_for_what_it_lacks_here(tmp_path, more, missing):
    """The cached package requires a newer C library than any that exists."""
    package = tmp_path / "zerotax" / "debs" / "sid-libmine"
    package.mkdir(parents=True)
    (package / "mine.c").write_text(ALLOCATOR + more)
    subprocess.run([CC, "-shared", "-fPIC", "-fno-builtin", "-o", package / "libmine.so", package / "mine.c"], check=True)
    (package / "ld.so").symlink_to(loader_of("/bin/true"))
    (package / "about.txt").write_text("libmine.so\n9.99\nld.so\n1.0-1\n")
    done = zerotax("record", "--text", "/dev/null", "--allocator", "mine=deb:sid/libmine", "--", "true", XDG_CACHE_HOME=tmp_path)
    assert done.returncode == (2 if missing else 0), done.stderr
    assert not missing or ("C library of its release" in done.stderr and missing in done.stderr)


@pytest.mark.long("fetches packages")
@pytest.mark.usefixtures("run")
def test_a_package_without_malloc_and_one_that_is_not_there_leave_nothing_behind(tmp_path):
    for package, why in (("deb:bookworm/libzstd1", "no library that defines malloc"), ("deb:bookworm/libnone", "cannot fetch")):
        done = zerotax("run", "--allocator", f"x={package}", "--size", MIB, XDG_CACHE_HOME=tmp_path, timeout=600)
        assert done.returncode == 3 and why in done.stderr.splitlines()[-1]
        assert list((tmp_path / "zerotax" / "debs").iterdir()) == []
