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
# Files of the folder that are no part of the library.
OTHERS = {"version.cc", "small_plain.cc"}
COMPILE = ["g++", "-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-builtin-malloc",
           "-fno-builtin-calloc", "-fno-builtin-memset", "-c"]
LINK = ["g++", "-shared", "-Wl,-z,now"]

# What is changed: file, before, after; and a word that the difference must be told with.
POLICY = "policies/libmalloc_116.cc"
LIMIT = "kEntryLimit = (std::size_t{2} << 30) / kEntries"
CHANGES = {
    "the entry limit": ([(POLICY, LIMIT, LIMIT + " - 4096")], "the threshold at 134213633 bytes is gone"),
    "< at the entry limit": ([(POLICY, "size < settings.entry_limit", "size <= settings.entry_limit")],
                             "the threshold at 134213633 bytes is gone"),
    "the lower bound": ([(POLICY, "std::size_t{127} << 10", "std::size_t{126} << 10")],
                        "the threshold at 130049 bytes is gone"),
    "the size of the ring": ([(POLICY, "kEntries = 16", "kEntries = 15"),
                              (POLICY, LIMIT, f"kEntryLimit = {128 * MIB}")], "calloc_batch"),
    "the 2x rule, stricter": ([("policy.h", "best - size < size", "best - size < size / 2")], "calloc_mixed"),
    "the 2x rule, looser": ([("policy.h", "best - size < size", "best - size < 2 * size")], "calloc_mixed"),
    "the memset": ([("clear.cc", "memset(AsPointer(address), 0, size);", "")], "zeroed_bytes"),
    "the memset after madvise": ([(POLICY, ".clear = ClearAll", """.clear = [](Block& block, std::size_t size, std::uint32_t generation) {
      return block.madvised ? Cleared{} : ClearAll(block, size, generation);
    }""")], "zeroed_bytes"),
}


def build(folder, edits):
    """The object files of the library with these edits: of what does not see an edit, those of the unchanged one."""
    source = folder / "largecache"
    shutil.copytree(ROOT / "allocators" / "largecache", source)
    for name, before, after in edits:
        text = (source / name).read_text()
        assert text.count(before) == 1, f"{name} has changed: {before}"
        (source / name).write_text(text.replace(before, after))
    changed = {name for name, _, _ in edits}
    objects = {}
    for path in sorted(source.rglob("*.cc")):
        name = str(path.relative_to(source))
        if path.name in OTHERS:
            continue
        everywhere = not edits or any(edited.endswith(".h") for edited in changed)
        if everywhere or name in changed:
            objects[name] = folder / (name.replace("/", "-") + ".o")
            subprocess.run([*COMPILE, f"-I{folder}", "-o", objects[name], path], check=True)
    return objects


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    return build(tmp_path_factory.mktemp("unchanged"), [])


def check(folder, objects):
    """The exit status and text of `zerotax check` for the library of these objects."""
    library = folder / "libchanged.so"
    subprocess.run([*LINK, "-o", library, *objects.values()], check=True)
    done = zerotax("check", "--allocator", f"changed={library}", "--env", "changed:LARGECACHE_RESERVE=16MiB",
                   "--baseline", BASELINE)
    return done.returncode, done.stdout + done.stderr


def test_without_a_change_it_passes(tmp_path, unchanged):
    status, text = check(tmp_path, unchanged)
    assert status == 0, text


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of(tmp_path, unchanged, what):
    edits, word = CHANGES[what]
    status, text = check(tmp_path, {**unchanged, **build(tmp_path, edits)})
    assert status == 1, text
    assert word in text
