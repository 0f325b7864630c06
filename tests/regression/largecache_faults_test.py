"""If a mistake is planted in the source of largecache, a test of its hard cases fails. Each mistake names the test that
must fail. Only the changed file is compiled again, with the options of the build. The new object is linked together
with the objects of the unit tests, before the library's archive.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest

from preloading import unit_tests_of_largecache

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", SOURCE / "build")).resolve()
LIBRARY = SOURCE / "allocators" / "largecache"

# Groups of tests that exist only once, not once for each policy.
BY_THEMSELVES = ("adaptive", "emulation", "matching", "reads", "realloc")

# Before Linux 6.7, the library does not examine pages, so many mistakes have no effect. Mistakes in the emulations
# always have an effect.
IS_LOOKED_AT = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 7)

MINCORE = """unsigned char resident[4096];
  const std::size_t pages = (end - begin) / page_size();
  if (pages > 4096 || mincore(as_pointer(begin), end - begin, resident) != 0) return false;
  walked = begin;
  for (std::size_t page = 0; page < pages && count < capacity; ++page, walked += page_size()) {
    if ((resident[page] & 1) != 0) regions[count++] = {walked, walked + page_size(), kPresent};
  }
  if (descriptor >= 0) return true;
  """

# name: file, text before, text after, the unit test that catches it (its program and name), and whether it needs root.
FAULTS = {
    "one page of a run is skipped": (
        "clear.cc", "zero_all(run.begin, bytes).zeroed_bytes", "zero_all(run.begin, bytes - page_size()).zeroed_bytes",
        "kernel_writes", "KernelWrites.AreCleared/dirty_new_read_of_a_file"),
    "the last run of a full answer is skipped": (
        "adaptive/pagemap.cc", "  count = static_cast<std::size_t>(got);",
        "  count = static_cast<std::size_t>(got) - (got > 1 && static_cast<std::size_t>(got) == capacity ? 1 : 0);",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/dirty_new"),
    "mincore is trusted": (
        "adaptive/pagemap.cc", "ScanArgument scan{};", MINCORE + "ScanArgument scan{};",
        "pages", "SwappedPages.AreCleared/dirty_new"),
    "swapped pages are ignored": (
        "adaptive/pagemap.cc", "kNonZero{0, kZeroPage, kPresent | kSwapped}", "kNonZero{0, kZeroPage, kPresent}",
        "pages", "SwappedPages.AreCleared/dirty_new"),
    "pages that were only read are not told apart": (
        "clear.cc", "return count_pages(zero_page_runs, address, size);", "return 0 * address * size;",
        "reads", "All/Reads.BlocksThatAreOnlyReadHalfStayAsTheyAre/0"),
    "what only grew once is not given to what grows": (
        "match.cc", "growing && (found.grew || found", "growing && (found",
        "matching", "All/Matching.WhatGrowsGetsWhatGrewBeforeHoweverLong/0"),
    "any long block is given to what grows": (
        "match.cc", "growing && (found.grew || found.size / kMostGrowth <= size)", "growing",
        "matching", "All/Matching.WhatGrowsGetsWhatGrewBeforeHoweverLong/0"),
    "a fork's copies are taken for a habit": (
        "large.cc", "  next_fork_generation();\n  reads_.forget();", "  next_fork_generation();",
        "reads", "All/Reads.AForkIsNotMistakenForAHabit/0"),
    "malloc is populated, too": (
        "large.cc", "policy().foresees_reads && request.contents == Contents::kZero", "policy().foresees_reads",
        "reads", "All/Reads.MallocIsNotPopulated/0"),
    "what is populated in part stays so": (
        "large.cc", "if (partly && policy().foresees_reads)", "if (partly && !policy().foresees_reads)",
        "reads", "All/Reads.TheRestOfACachedBlockIsPopulatedToo/0"),
    "huge pages are forgotten": (
        "adaptive/pagemap.cc", "kNonZero{0, kZeroPage,", "kNonZero{0, kZeroPage | 64,",
        "pages", "Pages.ThatAreHugeAreClearedWhole/dirty_new"),
    "a look ends a page early": (
        "clear.cc", "const std::uintptr_t end = address + size;\n  for (std::uintptr_t from = address; from < end;) {",
        "const std::uintptr_t end = address + size - page_size();\n  for (std::uintptr_t from = address; from < end;) {",
        "limits", "Process.InAFullControlGroupLosesOfferedPagesOnly/dirty_new"),
    "a look begins a page late": (
        "clear.cc", "const std::uintptr_t end = address + size;\n  for (std::uintptr_t from = address; from < end;) {",
        "const std::uintptr_t end = address + size;\n  for (std::uintptr_t from = address + page_size(); from < end;) {",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/dirty_new"),
    "clearing all ends a page early": (
        "clear.cc", "memset(as_pointer(address), 0, size);", "memset(as_pointer(address), 0, size - page_size());",
        "pages", "Pages.ThatAreHugeAreClearedWhole/memset_new"),
    "clearing all ends a byte early": (
        "clear.cc", "memset(as_pointer(address), 0, size);", "memset(as_pointer(address), 0, size - 1);",
        "pages", "Pages.ThatAreHugeAreClearedWhole/memset_new"),
    "the witness is not asked": (
        "large.cc", "return !policy().has_witness || witness_agrees(address, size) ||",
        "return witness_size() != 0 || witness_agrees(address, size) ||",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/dirty_new_part_a_shared_file"),
    "the witness's EFAULT is taken for consent": (
        "pages.cc", "(errno == ENOMEM || errno == EAGAIN)", "(errno == ENOMEM || errno == EAGAIN || errno == EFAULT)",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/purge_new_part_shared_memory"),
    "the witness lies within the block": (
        "pages.cc", "size + page_size(), size + 2 * page_size()", "size - page_size(), size",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/memset_new_all_read_only"),
    "the witness of a shortened block is not mapped anew": (
        "resize.cc", "(policy().has_witness && !map_pages_over(address + size, witness_size())) ||", "",
        "mappings", "Altered.BlockThatIsShortenedIsNotEither/dirty_new_all_shared"),
    "the descriptor is not checked": (
        "adaptive/pagemap.cc", "return lseek(descriptor, 0, SEEK_CUR) == secret;", "return descriptor >= 0 && secret != 0;",
        "pagemap", "PagemapProcess.BelievesNobodyElsesPagemap/dirty_new"),
    "the descriptor is checked before the question": (
        "adaptive/pagemap.cc",
        "    said = scan(opened.descriptor, begin, end, wanted, regions, capacity < kMost ? capacity : kMost, count, walked);",
        "    if (!is_ours(opened.descriptor, opened.secret)) {\n      forget(*page, opened);\n      continue;\n    }\n"
        "    said = scan(opened.descriptor, begin, end, wanted, regions, capacity < kMost ? capacity : kMost, count, walked);\n"
        "    if (said) break;",
        "pagemap", "PagemapProcess.BelievesNobodyElsesPagemapThatComesInBetween/dirty_new"),
    "a fork does not wipe": (
        "adaptive/pagemap.cc", "MADV_WIPEONFORK) != 0", "MADV_NORMAL) != 0",
        "fork", "HardFork.PastTheHandlersBelievesNothingOfTheParents/dirty_new"),
    "a purge's failure is ignored": (
        "pages.cc", "return madvise(as_pointer(address), size, MADV_DONTNEED) == 0;",
        "madvise(as_pointer(address), size, MADV_DONTNEED);\n  return true;",
        "pages", "Pages.ThatAreAllLockedAreCleared/purge_new"),
    "offering is taken for purging": (
        "pages.cc", "MADV_DONTNEED) == 0", "MADV_FREE) == 0",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/adaptive_idle"),
    "where the answer ended is ignored": (
        "clear.cc", "    from = walked;\n  }\n  return true;\n}\n\nbool PopulatedPages",
        "    from = end;\n  }\n  return true;\n}\n\nbool PopulatedPages",
        "pages", "Pages.ThatAreEveryOtherOneAreCleared/dirty_new"),
    "no answer is taken for a clean block": (
        "clear.cc",
        "if (!non_zero_runs(from, end, runs, kRuns, count, walked)) return false;\n    const std::uint64_t found",
        "if (!non_zero_runs(from, end, runs, kRuns, count, walked)) return true;\n    const std::uint64_t found",
        "pagemap", "PagemapProcess.WithoutPagemapScanClearsAll/dirty_new"),
    "what is swapped or guarded is purged, not mapped anew": (
        "clear.cc", "run.swapped && map_pages_over(run.begin, bytes)", "run.swapped && purge_pages(run.begin, bytes)",
        "pages", "Pages.ThatAreGuardedAreTakenAwayByThoseWhoLook/dirty_new"),
    "the cache is kept when mapping fails": (
        "large.cc", "  decay(true);\n  return map_pages", "  return map_pages",
        "emulation", "Libmalloc116.GivesItsCacheBackAndAsksAgainWhenMappingFailsUnlikeApples"),
    "libmalloc-283 compares the request as it is": (
        "policies/libmalloc_283.cc", "quantum != 0 && size > kThreshold", "quantum != 0 && size > kThresholdLargeMemory",
        "emulation", "Libmalloc283With32GiB.ReallocComparesHalfWithTheRoundedSizeOfTheMediumClass"),
    "xzone counts in pages": (
        "large.cc", "const std::size_t mask = policy().granule - 1;", "const std::size_t mask = 0;",
        "emulation", "Xzone792.CountsInSlicesOf16KiB"),
    "xzone clears the request only": (
        "policies/xzone_792.cc",
        "std::size_t /*size*/, std::uint32_t /*generation*/) {\n  return zero_all(block.address, block.size)",
        "std::size_t size, std::uint32_t /*generation*/) {\n  return zero_all(block.address, size)",
        "emulation", "Xzone792.CountsInSlicesOf16KiB"),
    "xzone trims to half or less only": (
        "policies/xzone_792.cc", ".trims = trims_always", ".trims = trims_to_half",
        "emulation", "Xzone792.ReallocTrimsAtOnce"),
    "a tail is unmapped": (
        "resize.cc", "if (policy().keeps_tails) tail", "if (policy().has_witness) tail",
        "emulation", "Xzone792.ReallocPutsTheTailIntoTheCache"),
    "a tail stays part of its block, too": (
        "resize.cc", "record_locked(address, size);\n    if", "if",
        "emulation", "Xzone792.ReallocPutsTheTailIntoTheCache"),
    "a tail begins where the block ends": (
        "resize.cc", "tail = (from + mask) & ~mask;", "tail = from + 0 * mask;",
        "emulation", "Xzone792.ReallocUnmapsWhatIsBeforeTheTailAndATailThatIsNotHuge"),
    "what is before a tail stays mapped": (
        "resize.cc", "(tail > from && !unmap_pages(from, tail - from))", "(tail == end && !unmap_pages(from, tail - from))",
        "emulation", "Xzone792.ReallocUnmapsWhatIsBeforeTheTailAndATailThatIsNotHuge"),
    "a tail that is not huge is kept": (
        "resize.cc", "end - tail > settings_.threshold", "end - tail >= settings_.threshold",
        "emulation", "Xzone792.ReallocUnmapsWhatIsBeforeTheTailAndATailThatIsNotHuge"),
    "a tail takes the place of the oldest": (
        "resize.cc", "ring_.size() < settings_.entries &&", "settings_.entries > 0 &&",
        "emulation", "Xzone792Tails.TakeNobodysPlaceAndHaveNoLimit"),
    "a tail is kept up to the entry limit only": (
        "resize.cc", "&& has_room_locked(end - tail);", "&& has_room_locked(end - tail) && end - tail <= settings_.entry_limit;",
        "emulation", "Xzone792Tails.TakeNobodysPlaceAndHaveNoLimit"),
    "xzone moves a block at exactly half": (
        "policies/xzone_792.cc", ".stays = stays_from_half", ".stays = stays_above_half",
        "emulation", "Xzone792.ReallocKeepsABlockOfWhichExactlyHalfIsAskedFor"),
    "xzone's blocks start where the kernel puts them": (
        "large.cc", "return alignment < policy().block_alignment ? policy().block_alignment : alignment;", "return alignment;",
        "emulation", "Xzone792.StartsBlocksAtMultiplesOf4MiBSoThatEachFitsAnAlignmentUpToThat"),
    "the cache is asked for any alignment": (
        "match.cc", "if (policy().block_alignment > 1 && alignment > policy().block_alignment) return false;", "",
        "emulation", "Xzone792.LooksForNothingInTheCacheWithAnAlignmentAbove4MiB"),
    "no alignment makes a request large": (
        "large.cc", "return alignment > policy().most_small_alignment;", "return alignment > SIZE_MAX - 1;",
        "emulation", "Xzone792.TakesARequestOfMoreThan1MiBsAlignmentForHuge"),
    "what only its alignment made large is cached": (
        "free.cc", "block.size <= settings_.threshold ||", "",
        "emulation", "Xzone792.TakesARequestOfMoreThan1MiBsAlignmentForHuge"),
    "what only its alignment made large is cut off": (
        "resize.cc", "if (!is_large(size) || !is_large(old_size)) {", "if (!is_large(size)) {",
        "emulation", "Xzone792.ReallocOfABlockThatIsLargeByItsAlignmentGoesByHalves"),
    "realloc copies nothing": (
        "family.cc", "std::memcpy(moved, pointer, std::min(old_size, size));", "",
        "realloc", "All/Reallocs.RandomlyLosesNoByte/dirty"),
    "realloc copies a byte too few": (
        "family.cc", "std::min(old_size, size)", "std::min(old_size, size) - 1",
        "realloc", "All/Reallocs.OfABlockWhoseMappingTheProgramChangedKeepsItsBytes/dirty"),
    "pages are moved but for the last": (
        "pages.cc", "old_size + witness_size(), size + witness_size(), flags",
        "old_size - page_size(), size + witness_size(), flags",
        "realloc", "All/Regrowth.KeepsEveryByteAndCopiesNoPageThatItCanMove/adaptive"),
    "pages are never moved": (
        "resize.cc", "if (!policy().foresees_growth || !rounded", "if (policy().foresees_growth || !rounded",
        "realloc", "All/Regrowth.KeepsEveryByteAndCopiesNoPageThatItCanMove/adaptive"),
    "a block that moved keeps its old address in the table": (
        "resize.cc", "    block.address = moved;\n", "",
        "realloc", "All/Regrowth.KeepsEveryByteAndCopiesNoPageThatItCanMove/adaptive"),
    "malloc_usable_size may not be believed": (
        "large.cc", "if (size != 0 && !lock_.is_interrupted()) ask(address_of(pointer), size);", "",
        "realloc", "All/Regrowth.KeepsAllThatMallocUsableSizeSaid/dirty"),
    "a block is cut off while it grows": (
        "resize.cc", "*rounded < old_size && size < asked &&", "*rounded < old_size &&",
        "realloc", "All/Regrowth.TheNextTimeTakesNoFaultAtAll/adaptive"),
    "room counts as memory": (
        "large.cc", "policy().foresees_growth ? (block.asked", "!policy().foresees_growth ? (block.asked",
        "realloc", "All/Regrowth.RoomIsNoMemory/adaptive"),
    "what nobody touches is counted": (
        "free.cc", "held_bytes_ > 0 && !seems_untouched(block)", "held_bytes_ > 0",
        "matching", "All/Matching.BlocksThatNobodyTouchesAreNotCountedWhileTheyFit/1"),
    "what is cut off is not counted": (
        "match.cc", "      ++statistics_.tails;\n", "", "matching", "All/Matching.WhereAllAreTooLongOneIsCut/0"),
    "malloc takes the newest": (
        "match.cc", "return is_populated(block); }, false);", "return !is_populated(block); }, false);",
        "matching", "All/Matching.EachGetsItsOwn/0"),
    "calloc takes what is filled": (
        "match.cc", "block.use == Use::kZeroed; }, false);", "block.use == Use::kFilled; }, false);",
        "matching", "All/Matching.EachGetsItsOwn/1"),
    "what was populated once is expected every time": (
        "adaptive/adaptive_model.cc", "(static_cast<double>(history.pages) - look.populated) / kSampleCalls;",
        "history.pages;",
        "adaptive", "Adaptive.KeepsABlockThatIsSoonPopulatedWhole"),
    "what zeroing takes is measured on a few pages only": (
        "adaptive/adaptive_model.cc", "cost_to_keep(costs, look.populated, look.runs, zero_page)",
        "cost_to_keep(costs, look.populated, look.runs, costs.zero_page)",
        "adaptive", "Adaptive.GoesByWhatThisBlockTakesRatherThanByThePagesThatWereMeasured"),
    "what a purge takes is measured on a few pages only": (
        "adaptive/adaptive_model.cc", "const bool first = history.usual_ticks == 0;", "const bool first = true;",
        "adaptive", "Adaptive.GoesByWhatThisBlockTakesRatherThanByThePagesThatWereMeasured"),
    "what finding the pages takes counts as zeroing": (
        "clear.cc", "dirty.ticks += ticks_now() - found;", "dirty.ticks += 10 * (ticks_now() - found) + 100000;",
        "matching", "All/Matching.AfterItsFirstRoundsAnArrayOfZerosAndItsSumNeedNeitherFaultNorZero/1"),
    "malloc takes what is clean": (
        "match.cc", "handed_out = is_populated(block) && in_use_.reserve();", "handed_out = in_use_.reserve();",
        "matching", "All/Matching.MallocLeavesWhatIsCleanToCalloc/0"),
    "what nobody touched counts as memory": (
        "large.cc", "block.resident != Block::kUnknown ? block.resident * page_size() : block.size;", "block.size;",
        "matching", "All/Matching.WhatNobodyTouchedIsNoMemory/0"),
    "a shorter block's pages are not used": (
        "large.cc", "policy().foresees_growth && contents == Contents::kAny && alignment <= page_size()", "contents != contents",
        "matching", "All/Matching.WhereNoneIsLongEnoughAShorterOneGivesItsPages/1"),
    "what lies behind a block that was cut is lost": (
        "match.cc", "      push_locked(cut_off_locked(block, size), evicted);", "      cut_off_locked(block, size);",
        "matching", "All/Matching.WhereAllAreTooLongOneIsCut/1"),
    "what was cut off begins in the witness": (
        "match.cc", "rest.address += mapped_size(size);", "rest.address += size;",
        "matching", "All/Matching.WhereAllAreTooLongOneIsCut/1"),
    "a block is cut whatever was done to it": (
        "match.cc", "const bool agrees = agrees_with_witness(block.address, block.size);", "const bool agrees = true;",
        "mappings", "Altered.BlockIsNotCutEither/dirty_new_all_read_only"),
    "advice about huge pages is an alteration": (
        "pages.cc", "return taken_back && witness_agrees(address, size);", "return !taken_back && witness_agrees(address, size);",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/dirty_new_all_huge"),
    "any advice is forgiven": (
        "pages.cc", "return taken_back && witness_agrees(address, size);", "return taken_back;",
        "mappings", "Altered.BlockIsNeverHandedOutAgain/dirty_new_part_huge_and_not_dumped"),
}


def compile_changed(folder, name, text):
    """Returns the object of a file of the library with this text, compiled with the options of the build."""
    original = str(LIBRARY / name)
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if entry["file"] == original and "largecache_core" in entry["command"]:
            break
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    words = shlex.split(entry["command"])
    words = words[: words.index("-o")] + ["-Wno-error", "-g0", "-o", str(folder / "changed.o"), "-c", str(folder / name)]
    words = [word for word in words if word not in ("ccache",)]
    subprocess.run(words, cwd=entry["directory"], check=True)
    return folder / "changed.o"


def link(folder, objects):
    program = folder / "changed_test"
    units = unit_tests_of_largecache()
    archive = BUILD / "allocators" / "largecache" / "liblargecache_core.a"
    subprocess.run(["g++", "-o", program, *units, *objects, archive, "-lgtest", "-lgtest_main", "-pthread"], check=True)
    return program


def full_name(test, unit_test):
    """Returns the full name of a test. The hard tests exist once for each policy, and the tests of the emulations exist
    once.
    """
    return unit_test if test in BY_THEMSELVES else f"All/{unit_test}"


def failed_tests(program, name):
    """Returns the failed tests with this name, and the output of all tests with this name. If a test with this name was
    skipped, skips the current test as well, because nothing could find the mistake.
    """
    done = subprocess.run([program, f"--gtest_filter={name}"], capture_output=True, text=True, timeout=120, check=False)
    assert "Running 1 test " in done.stdout, f"there is no test {name}"
    if "[  SKIPPED ]" in done.stdout:
        pytest.skip(f"{name} cannot be tried here")
    crashed = done.returncode < 0
    return crashed or bool(re.search(r"\[  FAILED  \] " + re.escape(name), done.stdout)), done.stdout


@pytest.mark.parametrize("what", FAULTS)
def test_it_is_caught_when(tmp_path, what):
    name, before, after, test, unit_test = FAULTS[what]
    if test not in BY_THEMSELVES and not IS_LOOKED_AT:
        pytest.skip("before Linux 6.7 nothing is looked at")
    text = (LIBRARY / name).read_text()
    assert text.count(before) == 1, f"{name} has changed: {before}"
    program = link(tmp_path, [compile_changed(tmp_path, name, text.replace(before, after))])
    failed, said = failed_tests(program, full_name(test, unit_test))
    assert failed, f"{unit_test} has not caught it:\n{said}"


# Mistakes that a few hundred random sequences find. No special cases are needed.
@pytest.mark.skipif(not IS_LOOKED_AT, reason="before Linux 6.7 nothing is looked at")
@pytest.mark.parametrize("what", [
    "one page of a run is skipped", "a look ends a page early", "the witness is not asked", "where the answer ended is ignored",
    "offering is taken for purging", "clearing all ends a byte early"])
def test_random_sequences_show_that(tmp_path, what):
    name, before, after, _, _ = FAULTS[what]
    text = (LIBRARY / name).read_text()
    folder = BUILD / "tests" / "fuzz" / "CMakeFiles" / "largecache_random.dir"
    objects = [folder / "largecache_random.cc.o", folder / "largecache_player.cc.o"]
    assert all(path.exists() for path in objects), "largecache_random is not built: ./run test builds it"
    changed = compile_changed(tmp_path, name, text.replace(before, after))
    archive = BUILD / "allocators" / "largecache" / "liblargecache_core.a"
    subprocess.run(["g++", "-o", tmp_path / "changed", *objects, changed, archive, "-pthread"], check=True)
    done = subprocess.run([tmp_path / "changed", "--seconds", "20"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode < 0, "twenty seconds of random sequences have not shown it"


def test_without_a_fault_each_of_them_passes(tmp_path):
    program = link(tmp_path, [])
    for test in sorted({fault[3] for fault in FAULTS.values() if IS_LOOKED_AT or fault[3] in BY_THEMSELVES}):
        for unit_test in sorted({fault[4] for fault in FAULTS.values() if fault[3] == test}):
            name = full_name(test, unit_test)
            done = subprocess.run([program, f"--gtest_filter={name}"], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout
