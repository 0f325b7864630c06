"""zerotax profile classifies memset and bzero by the value that they write: only zeros count as zeroing."""

import json
import subprocess

import pytest
from allocators_here import version_of
from conftest import BUILD, ZEROTAX, check_schema, clean_environment, mostly_long, zerotax

FILLS = BUILD / "tests" / "recorded" / "fills"
LARGE = 33 << 20
# One size for each loop of the C library's memset. The last size is above the mmap threshold, so each block has its own
# mapping.
SIZES = [1 << 10, 64 << 10, 1 << 20, LARGE]


@pytest.fixture(scope="module", autouse=True)
def needs_sampling():
    if zerotax("profile", "--json", "-", "--", "/bin/true").returncode == 3:
        pytest.skip("this kernel permits no sampling")


def profile(*words, allocator=()):
    """Returns the checked profile. Repeats the run if the host took so much of the 0.2 s that most CPU time was not
    sampled.
    """
    for _ in range(5):
        done = subprocess.run([ZEROTAX, "profile", *allocator, "--json", "-", "--text", "/dev/null", "--", FILLS,
                               *map(str, words)], capture_output=True, text=True, check=False, env=clean_environment())
        assert done.returncode in (0, 3), done.stderr
        found = json.loads(done.stdout)
        check_schema(found, "profile")
        if done.returncode == 0:
            return found, {entry["category"]: entry for entry in found["categories"]}
        assert found["unseen"]["share"] > 0.5, done.stderr
    raise AssertionError(f"five times most of the CPU time went unseen: {found['unseen']}")


def seconds(size):
    """With small blocks most time is in malloc and free, so a longer run is needed for some samples in memset."""
    return 0.2 if size > 1 << 10 else 1


def functions(tree, before=()):
    for call in tree:
        path = (*before, call["function"])
        yield path
        yield from functions(call["children"], path)


@pytest.mark.parametrize(("value", "size"), mostly_long(
    [(value, size) for value in ("7", "255") for size in SIZES], [("7", 1 << 10), ("255", 1 << 20), ("7", LARGE)],
    "other bytes of other sizes"))
def test_a_memset_of_other_bytes_is_no_zeroing(value, size):
    _, categories = profile(value, size, seconds(size))
    assert categories["zeroing"]["samples"] == 0
    assert categories["filling"]["samples"] > 0
    faults = categories["page faults"]
    if isinstance(faults["samples"], int):
        assert faults["while_zeroing"] == 0
        assert size < LARGE or faults["while_filling"] > 0


@pytest.mark.parametrize(("how", "size"), mostly_long(
    [(how, size) for how in ("0", "256", "bzero") for size in SIZES],
    [("0", 64 << 10), ("0", LARGE), ("256", 1 << 20), ("bzero", 1 << 10)], "other sizes"))
def test_a_memset_of_zeros_and_a_bzero_are_zeroing(how, size):
    _, categories = profile(how, size, seconds(size))
    # memset takes only the low byte of its value, so 256 means 0. For a memset of wide characters, 256 in the same
    # register does not mean 0. The value is therefore unknown.
    row = "memset (value unknown)" if how == "256" else "zeroing"
    assert categories[row]["samples"] > 0
    assert categories["filling"]["samples"] == 0
    faults = categories["page faults"]
    if isinstance(faults["samples"], int) and how != "256":
        assert faults["while_filling"] == 0
        assert size < LARGE or faults["while_zeroing"] > 0


def test_the_memset_inside_calloc_is_zeroing():
    _, categories = profile("calloc", 100_000, 0.3)
    assert categories["zeroing"]["samples"] > 0 and categories["filling"]["samples"] > 0


@pytest.mark.parametrize("name", mostly_long(
    ["glibc", "largecache", "jemalloc", "mimalloc", "tcmalloc", "google-tcmalloc", "tbbmalloc", "rpmalloc", "scudo", "snmalloc"],
    ["glibc", "largecache", "mimalloc"], "another allocator"))
def test_calloc_is_in_the_tree(name):
    """Functions below calloc have calloc as their caller, even where calloc ends by a jump to memset, as in glibc and
    mimalloc.
    """
    if version_of(name) is None:
        pytest.skip(f"this build has no {name}")
    found, _ = profile("calloc", 20_000, 0.3, allocator=("--allocator", name))
    callees = {path[path.index("main") + 1] for path in functions(found["tree"]) if path[-1] != "main" and "main" in path}
    assert "calloc" in callees
