"""largecache with one constant or comparison changed in its source does not pass its baseline; unchanged, it does."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
from conftest import MIB, zerotax  # noqa: E402

BASELINE = ROOT / "tests" / "regression" / "baselines" / "largecache-0.1.0-116.json"
SOURCES = ["config.cc", "family.cc", "in_use_table.cc", "large.cc", "message.cc", "pages.cc", "process.cc", "ring.cc",
           "small_glibc.cc", "interpose.cc"]
FLAGS = ["-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions", "-fno-builtin-malloc",
         "-fno-builtin-calloc", "-fno-builtin-memset", "-Wl,-z,now"]

# What is changed: file, before, after; and a word that the difference must be told with.
LIMIT = "kDefaultEntryLimit = (std::size_t{2} << 30) / kDefaultEntries"
CHANGES = {
    "the entry limit": ([("policy.h", LIMIT, LIMIT + " - 4096")], "the threshold at 134213633 bytes is gone"),
    "< at the entry limit": ([("policy.h", "size < entry_limit", "size <= entry_limit")],
                             "the threshold at 134213633 bytes is gone"),
    "the lower bound": ([("policy.h", "std::size_t{127} << 10", "std::size_t{126} << 10")],
                        "the threshold at 130049 bytes is gone"),
    "the size of the ring": ([("policy.h", "kDefaultEntries = 16", "kDefaultEntries = 15"),
                              ("policy.h", LIMIT, f"kDefaultEntryLimit = {128 * MIB}")], "calloc_batch"),
    "the 2x rule, stricter": ([("policy.h", "best - size < size", "best - size < size / 2")], "calloc_mixed"),
    "the 2x rule, looser": ([("policy.h", "best - size < size", "best - size < 2 * size")], "calloc_mixed"),
    "the memset": ([("large.cc", "if (must_zero) memset", "if (false) memset")], "zeroed_bytes"),
    "the memset after madvise": ([("policy.h", "bool zero_on_hit(bool /*madvised*/) { return true; }",
                                   "bool zero_on_hit(bool madvised) { return !madvised; }")], "zeroed_bytes"),
}


def check(folder, edits):
    """The exit status and text of `zerotax check` for largecache with these edits."""
    source = folder / "largecache"
    shutil.copytree(ROOT / "allocators" / "largecache", source)
    for name, before, after in edits:
        text = (source / name).read_text()
        assert text.count(before) == 1, f"{name} has changed: {before}"
        (source / name).write_text(text.replace(before, after))
    library = folder / "libchanged.so"
    subprocess.run(["g++", *FLAGS, f"-I{folder}", "-o", library, *(source / name for name in SOURCES)], check=True)
    done = zerotax("check", "--allocator", f"changed={library}", "--env", "changed:LARGECACHE_RESERVE=16MiB",
                   "--baseline", BASELINE)
    return done.returncode, done.stdout + done.stderr


def test_without_a_change_it_passes(tmp_path):
    status, text = check(tmp_path, [])
    assert status == 0, text


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of(tmp_path, what):
    edits, word = CHANGES[what]
    status, text = check(tmp_path, edits)
    assert status == 1, text
    assert word in text
