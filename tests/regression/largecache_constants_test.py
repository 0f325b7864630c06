"""If one constant or comparison in largecache's source is changed, largecache does not pass its baseline; unchanged, it
does. Changes that only realloc and alignments show fail the unit test of the emulations.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from conftest import BUILD, MIB, zerotax  # noqa: E402
from preloading import unit_tests_of_largecache  # noqa: E402

BASELINE = ROOT / "tests" / "regression" / "baselines" / "largecache-0.1.0-116.json"
COMPILE = ["g++", "-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-builtin-malloc",
           "-fno-builtin-calloc", "-fno-builtin-memset", "-c"]
LINK = ["g++", "-shared", "-Wl,-z,now"]

# The changes: file, text before, text after, and a word that the reported difference must contain. The word also
# selects the part of the baseline to measure: the thresholds, a case's points, or one loop. To measure the whole
# baseline for each change would take minutes.
POLICY = "policies/libmalloc_116.cc"
LIMIT = "kEntryLimit = (std::size_t{2} << 30) / kEntries"
RULE = "is_good_fit(std::size_t best, std::size_t size) { return best - size < size"
FUNCTION = re.compile(r"(\w+)\(")  # marks an edit that is made to a header
CHANGES = {
    "the entry limit": ([(POLICY, LIMIT, LIMIT + " - 4096")], "the threshold at 134213633 bytes is gone"),
    "< at the entry limit": ([(POLICY, "size < settings.entry_limit", "size <= settings.entry_limit")],
                             "the threshold at 134213633 bytes is gone"),
    "the lower bound": ([(POLICY, "std::size_t{127} << 10", "std::size_t{126} << 10")],
                        "the threshold at 130049 bytes is gone"),
    "the size of the ring": ([(POLICY, "kEntries = 16", "kEntries = 15"),
                              (POLICY, LIMIT, f"kEntryLimit = {128 * MIB}")], "calloc_batch"),
    "the 2x rule, stricter": ([("policy.h", RULE, RULE.replace("< size", "< size / 2"))], "calloc_mixed"),
    "the 2x rule, looser": ([("policy.h", RULE, RULE.replace("< size", "< 2 * size"))], "calloc_mixed"),
    "the memset": ([("clear.cc", "memset(as_pointer(address), 0, size);", "")], "zeroed_bytes"),
    "the memset after madvise": ([(POLICY, ".clear = clear_all",
                                   """.clear = [](Block& block, std::size_t size, std::uint32_t generation) {
      return block.madvised ? Cleared{} : clear_all(block, size, generation);
    }""")], "zeroed_bytes"),
}

# Changes that no case of a baseline shows: file, text before, text after, and the unit test that catches the change.
XZONE = "policies/xzone_792.cc"
LATER = "policies/libmalloc_283.cc"
MEDIUM = "Libmalloc283With32GiB.TheMediumClassCountsIn32KiB"
CONSTANTS = {
    "the medium class's 32 KiB to 16": (LATER, "kMediumQuantum = std::size_t{32} << 10",
                                        "kMediumQuantum = std::size_t{16} << 10", MEDIUM),
    "the medium class's 32 KiB to 64": (LATER, "kMediumQuantum = std::size_t{32} << 10",
                                        "kMediumQuantum = std::size_t{64} << 10", MEDIUM),
    "the memory from which on there is one": (LATER, "kLargeMemory = std::size_t{32} << 30",
                                              "kLargeMemory = std::size_t{33} << 30", MEDIUM),
    "a slice's 16 KiB to 8": (XZONE, "kSlice = std::size_t{16} << 10", "kSlice = std::size_t{8} << 10",
                              "Xzone792.CountsInSlicesOf16KiB"),
    "a slice's 16 KiB to 32": (XZONE, "kSlice = std::size_t{16} << 10", "kSlice = std::size_t{32} << 10",
                               "Xzone792.CountsInSlicesOf16KiB"),
    "a cut at one slice to one at two": (XZONE, "trims_always(std::size_t /*old_size*/, std::size_t /*size*/) { return true; }",
                                         "trims_always(std::size_t old_size, std::size_t size) "
                                         "{ return old_size - size > kSlice; }",
                                         "Xzone792.ReallocTrimsAtOnce"),
    "a segment's 4 MiB to 2": (XZONE, "kSegment = std::size_t{4} << 20", "kSegment = std::size_t{2} << 20",
                               "Xzone792.StartsBlocksAtMultiplesOf4MiBSoThatEachFitsAnAlignmentUpToThat"),
    "a segment's 4 MiB to 8": (XZONE, "kSegment = std::size_t{4} << 20", "kSegment = std::size_t{8} << 20",
                               "Xzone792.LooksForNothingInTheCacheWithAnAlignmentAbove4MiB"),
    "huge from 2 MiB to 2 MiB less a slice": (XZONE, "settings.threshold = std::size_t{2} << 20",
                                              "settings.threshold = (std::size_t{2} << 20) - kSlice",
                                              "Xzone792.ReallocKeepsABlockOfWhichExactlyHalfIsAskedFor"),
    ">= at the half": (XZONE, "size >= old_size / 2", "size > old_size / 2",
                       "Xzone792.ReallocKeepsABlockOfWhichExactlyHalfIsAskedFor"),
    "a small alignment's 1 MiB to 512 KiB": (XZONE, "kMostSmallAlignment = std::size_t{1} << 20",
                                             "kMostSmallAlignment = std::size_t{1} << 19",
                                             "Xzone792.TakesARequestOfMoreThan1MiBsAlignmentForHuge"),
    "a small alignment's 1 MiB to 2": (XZONE, "kMostSmallAlignment = std::size_t{1} << 20",
                                       "kMostSmallAlignment = std::size_t{1} << 21",
                                       "Xzone792.TakesARequestOfMoreThan1MiBsAlignmentForHuge"),
}


def mentions(path, edits):
    """Returns whether these edits change the object of a source file. An edit changes the object if it is made to the
    file, or to a header function that the file names.
    """
    return any(path.match(name) or (name.endswith(".h") and FUNCTION.search(before)[1] in path.read_text())
               for name, before, _ in edits)


def build(folder, edits):
    """Returns the object files that these edits change, by file name."""
    source = folder / "largecache"
    shutil.copytree(ROOT / "allocators" / "largecache", source)
    for name, before, after in edits:
        text = (source / name).read_text()
        assert text.count(before) == 1, f"{name} has changed: {before}"
        (source / name).write_text(text.replace(before, after))
    objects = {}
    for path in sorted(source.rglob("*.cc")):
        name = str(path.relative_to(source))
        if mentions(path, edits):
            objects[name] = folder / (name.replace("/", "-") + ".o")
            subprocess.run([*COMPILE, f"-I{folder}", "-o", objects[name], path], check=True)
    assert objects
    return objects


@pytest.fixture(scope="module")
def unchanged():
    """Returns the object files of the library as built."""
    folder = BUILD / "allocators" / "largecache" / "CMakeFiles"
    objects = {}
    for part in ("largecache_core.dir", "largecache.dir"):
        for path in sorted((folder / part).rglob("*.o")):
            name = str(path.relative_to(folder / part)).removesuffix(".o")
            if (ROOT / "allocators" / "largecache" / name).exists():  # skips objects of an earlier build
                objects[name] = path
    assert {"large.cc", "interpose.cc", POLICY} <= set(objects)
    return objects


def part_of_baseline(folder, word):
    """Returns a file with the part of the baseline that shows a change with this word."""
    baseline = json.loads(BASELINE.read_text())
    if word.startswith("the threshold"):
        baseline["points"] = baseline["points"][:1]
    else:
        del baseline["thresholds"]
        case = "calloc_loop" if word == "zeroed_bytes" else word
        baseline["points"] = [point for point in baseline["points"] if point["case"] == case]
        assert baseline["points"]
    path = folder / "baseline.json"
    path.write_text(json.dumps(baseline))
    return path


def check(folder, objects, baseline):
    """Returns the exit status and the text of `zerotax check` for the library of these objects."""
    library = folder / "libchanged.so"
    subprocess.run([*LINK, "-o", library, *objects.values()], check=True)
    done = zerotax("check", "--allocator", f"changed={library}", "--env", "changed:LARGECACHE_RESERVE=16MiB",
                   "--baseline", baseline, "--explain", "--strict")
    return done.returncode, done.stdout + done.stderr


def test_without_a_change_it_passes(tmp_path, unchanged):
    # regression.largecache measures the whole baseline.
    status, text = check(tmp_path, unchanged, part_of_baseline(tmp_path, "calloc_mixed"))
    assert status == 0, text


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of(tmp_path, unchanged, what):
    edits, word = CHANGES[what]
    status, text = check(tmp_path, {**unchanged, **build(tmp_path, edits)}, part_of_baseline(tmp_path, word))
    assert status == 1, text
    assert word in text


def run_unit_test(folder, objects, name):
    """Returns the exit status and the output of one unit test of the emulations that is linked with these objects."""
    library = [path for source, path in objects.items() if source != "interpose.cc"]
    linked = [*unit_tests_of_largecache(), *library, "-lgtest", "-lgtest_main", "-pthread"]
    subprocess.run(["g++", "-o", folder / "changed_test", *linked], check=True)
    done = subprocess.run([folder / "changed_test", f"--gtest_filter={name}"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert "Running 1 test " in done.stdout, f"there is no test {name}"
    return done.returncode, done.stdout + done.stderr


def test_without_a_change_the_emulations_pass(tmp_path, unchanged):
    for name in sorted({constant[3] for constant in CONSTANTS.values()}):
        status, text = run_unit_test(tmp_path, unchanged, name)
        assert status == 0, text


@pytest.mark.parametrize("what", CONSTANTS)
def test_an_emulation_with_a_change_of(tmp_path, unchanged, what):
    name, before, after, unit_test = CONSTANTS[what]
    status, text = run_unit_test(tmp_path, {**unchanged, **build(tmp_path, [(name, before, after)])}, unit_test)
    assert status != 0, text
