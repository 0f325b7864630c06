"""largecache with one mistake put into its source does not pass the tests of its hard cases; each says which one catches it.

Only the changed file is compiled anew, with the options of the build; it is linked, with the object of one unit test,
before the library's archive.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", SOURCE / "build")).resolve()
LIBRARY = SOURCE / "allocators" / "largecache"

pytestmark = pytest.mark.skipif(tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 7),
                                reason="before Linux 6.7 nothing is looked at, so that many faults have no effect")

MINCORE = """unsigned char resident[4096];
  const std::size_t pages = (end - begin) / PageSize();
  if (pages > 4096 || mincore(AsPointer(begin), end - begin, resident) != 0) return false;
  walked = begin;
  for (std::size_t page = 0; page < pages && count < capacity; ++page, walked += PageSize()) {
    if ((resident[page] & 1) != 0) regions[count++] = {walked, walked + PageSize(), kPresent};
  }
  if (descriptor >= 0) return true;
  """

# name: file, before, after, the unit test that catches it (its program and name); and whether that needs root.
FAULTS = {
    "one page of a run is skipped": (
        "clear.cc", "ZeroAll(run.begin, bytes).zeroed_bytes", "ZeroAll(run.begin, bytes - PageSize()).zeroed_bytes",
        "kernel_writes", "KernelWrites.AreCleared/dirty_new_read_of_a_file"),
    "the last run of a full answer is skipped": (
        "pagemap.cc", "  count = static_cast<std::size_t>(got);",
        "  count = static_cast<std::size_t>(got) - (got > 1 && static_cast<std::size_t>(got) == capacity ? 1 : 0);",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/dirty_new"),
    "mincore is trusted": (
        "pagemap.cc", "ScanArgument scan{};", MINCORE + "ScanArgument scan{};",
        "pages", "SwappedPages.AreCleared/dirty_new"),
    "swapped pages are ignored": (
        "pagemap.cc", "scan.category_anyof_mask = kPresent | kSwapped", "scan.category_anyof_mask = kPresent",
        "pages", "SwappedPages.AreCleared/dirty_new"),
    "huge pages are forgotten": (
        "pagemap.cc", "scan.category_mask = kZeroPage", "scan.category_mask = kZeroPage | 64, scan.category_inverted |= 64",
        "pages", "Pages.ThatAreHugeAreClearedWhole/dirty_new"),
    "a look ends a page early": (
        "clear.cc", "const std::uintptr_t end = address + size;\n  for (std::uintptr_t from = address; from < end;) {",
        "const std::uintptr_t end = address + size - PageSize();\n  for (std::uintptr_t from = address; from < end;) {",
        "limits", "Process.InAFullControlGroupLosesOfferedPagesOnly/dirty_new"),
    "a look begins a page late": (
        "clear.cc", "const std::uintptr_t end = address + size;\n  for (std::uintptr_t from = address; from < end;) {",
        "const std::uintptr_t end = address + size;\n  for (std::uintptr_t from = address + PageSize(); from < end;) {",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/dirty_new"),
    "clearing all ends a page early": (
        "clear.cc", "memset(AsPointer(address), 0, size);", "memset(AsPointer(address), 0, size - PageSize());",
        "pages", "Pages.ThatAreHugeAreClearedWhole/memset_new"),
    "clearing all ends a byte early": (
        "clear.cc", "memset(AsPointer(address), 0, size);", "memset(AsPointer(address), 0, size - 1);",
        "pages", "Pages.ThatAreHugeAreClearedWhole/memset_new"),
    "the witness is not asked": (
        "large.cc", "if (policy().has_witness && !WitnessAgrees(block.address, block.size)) {",
        "if (policy().has_witness && WitnessSize() == 0) {",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/dirty_new_part_a_shared_file"),
    "the witness's EFAULT is taken for consent": (
        "pages.cc", "(errno == ENOMEM || errno == EAGAIN)", "(errno == ENOMEM || errno == EAGAIN || errno == EFAULT)",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/purge_new_part_shared_memory"),
    "the witness lies within the block": (
        "pages.cc", "size + PageSize(), size + 2 * PageSize()", "size - PageSize(), size",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/memset_new_all_read_only"),
    "the witness of a shortened block is not mapped anew": (
        "large.cc", "(policy().has_witness && !MapPagesOver(address + *rounded, WitnessSize())) ||", "",
        "mappings", "Altered.BlockThatIsShortenedIsNotEither/dirty_new_all_shared"),
    "the descriptor is not checked": (
        "pagemap.cc", "return lseek(descriptor, 0, SEEK_CUR) == secret;", "return descriptor >= 0 && secret != 0;",
        "pagemap", "Process.BelievesNobodyElsesPagemap/dirty_new"),
    "the descriptor is checked before the question": (
        "pagemap.cc", "    said = Scan(opened.descriptor, begin, end, regions, capacity < kMost ? capacity : kMost, count, walked);",
        "    if (!IsOurs(opened.descriptor, opened.secret)) {\n      Forget(*page, opened);\n      continue;\n    }\n"
        "    said = Scan(opened.descriptor, begin, end, regions, capacity < kMost ? capacity : kMost, count, walked);\n"
        "    if (said) break;",
        "pagemap", "Process.BelievesNobodyElsesPagemapThatComesInBetween/dirty_new"),
    "a fork does not wipe": (
        "pagemap.cc", "MADV_WIPEONFORK) != 0", "MADV_NORMAL) != 0",
        "fork", "Fork.PastTheHandlersBelievesNothingOfTheParents/dirty_new"),
    "a purge's failure is ignored": (
        "pages.cc", "return madvise(AsPointer(address), size, MADV_DONTNEED) == 0;",
        "madvise(AsPointer(address), size, MADV_DONTNEED);\n  return true;",
        "pages", "Pages.ThatAreAllLockedAreCleared/purge_new"),
    "offering is taken for purging": (
        "pages.cc", "MADV_DONTNEED) == 0", "MADV_FREE) == 0",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/adaptive_idle"),
    "where the answer ended is ignored": (
        "clear.cc", "    from = walked;\n  }\n  return true;\n}\n\nbool PopulatedPages", "    from = end;\n  }\n  return true;\n}\n\nbool PopulatedPages",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/dirty_new"),
    "no answer is taken for a clean block": (
        "clear.cc", "if (!NonZeroRuns(from, end, runs, kRuns, count, walked)) return false;\n    for (std::size_t i = 0; i < count; ++i) {",
        "if (!NonZeroRuns(from, end, runs, kRuns, count, walked)) return true;\n    for (std::size_t i = 0; i < count; ++i) {",
        "pagemap", "Process.WithoutPagemapScanClearsAll/dirty_new"),
    "what is swapped or guarded is purged, not mapped anew": (
        "clear.cc", "run.swapped && MapPagesOver(run.begin, bytes)", "run.swapped && PurgePages(run.begin, bytes)",
        "pages", "Pages.ThatAreGuardedAreTakenAwayByThoseWhoLook/dirty_new"),
}


def compile_changed(folder, name, text):
    """The object of a file of the library with this text, compiled as the build compiles it."""
    original = str(LIBRARY / name)
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if entry["file"] == original and "largecache_core" in entry["command"]:
            break
    (folder / name).write_text(text)
    words = shlex.split(entry["command"])
    words = words[: words.index("-o")] + ["-Wno-error", "-g0", "-o", str(folder / "changed.o"), "-c", str(folder / name)]
    words = [word for word in words if word not in ("ccache",)]
    subprocess.run(words, cwd=entry["directory"], check=True)
    return folder / "changed.o"


def link(folder, test, objects):
    program = folder / "changed_test"
    unit = BUILD / "tests" / "unit" / "CMakeFiles" / f"largecache_hard_{test}_test.dir" / f"largecache_hard_{test}_test.cc.o"
    if not unit.exists():
        pytest.skip(f"{unit} is not built")
    archive = BUILD / "allocators" / "largecache" / "liblargecache_core.a"
    subprocess.run(["g++", "-o", program, unit, *objects, archive, "-lgtest", "-lgtest_main", "-pthread"], check=True)
    return program


def failed_tests(program, name):
    """The tests of this name that failed, and what was said. A test that was skipped has caught nothing: so is this."""
    done = subprocess.run([program, f"--gtest_filter=All/{name}"], capture_output=True, text=True, timeout=120, check=False)
    assert "Running 1 test " in done.stdout, f"there is no test {name}"
    if "[  SKIPPED ]" in done.stdout:
        pytest.skip(f"{name} cannot be tried here")
    crashed = done.returncode < 0
    return crashed or bool(re.search(r"\[  FAILED  \] All/" + re.escape(name), done.stdout)), done.stdout


@pytest.mark.parametrize("what", FAULTS)
def test_it_is_caught_when(tmp_path, what):
    name, before, after, test, unit_test = FAULTS[what]
    text = (LIBRARY / name).read_text()
    assert text.count(before) == 1, f"{name} has changed: {before}"
    program = link(tmp_path, test, [compile_changed(tmp_path, name, text.replace(before, after))])
    failed, said = failed_tests(program, unit_test)
    assert failed, f"{unit_test} has not caught it:\n{said}"


# Found without knowing what to look for: within some hundred random sequences.
@pytest.mark.parametrize("what", [
    "one page of a run is skipped", "a look ends a page early", "the witness is not asked", "where the answer ended is ignored",
    "offering is taken for purging", "clearing all ends a byte early"])
def test_random_sequences_show_that(tmp_path, what):
    name, before, after, _, _ = FAULTS[what]
    text = (LIBRARY / name).read_text()
    folder = BUILD / "tests" / "fuzz" / "CMakeFiles" / "largecache_random.dir"
    objects = [folder / "largecache_random.cc.o", folder / "largecache_player.cc.o"]
    if not all(path.exists() for path in objects):
        pytest.skip("largecache_random is not built")
    changed = compile_changed(tmp_path, name, text.replace(before, after))
    archive = BUILD / "allocators" / "largecache" / "liblargecache_core.a"
    subprocess.run(["g++", "-o", tmp_path / "changed", *objects, changed, archive, "-pthread"], check=True)
    done = subprocess.run([tmp_path / "changed", "--seconds", "20"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode < 0, "twenty seconds of random sequences have not shown it"


def test_without_a_fault_each_of_them_passes(tmp_path):
    for test in sorted({fault[3] for fault in FAULTS.values()}):
        program = link(tmp_path, test, [])
        for unit_test in sorted({fault[4] for fault in FAULTS.values() if fault[3] == test}):
            done = subprocess.run([program, f"--gtest_filter=All/{unit_test}"], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout
