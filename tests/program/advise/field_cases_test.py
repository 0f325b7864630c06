"""Programs that people asked about: the answer is the one with which they solved their problem, or a better one."""

import pathlib

import pytest
from advising import PROGRAMS, advise
from allocators_here import available, library_of, only_version
from conftest import MIB, huge_pages_setting, is_na
from recording import record

CASE = PROGRAMS / "field_case"
KEEPS = {"MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_MMAP_THRESHOLD_": "1073741824"}
PAGE = 4096
TRIMS = 10


def words_of(text):
    return " ".join(text.split())


@available("jemalloc")
def test_decay_of_0_returns_each_block_and_lazy_return_none():
    jemalloc = {"LD_PRELOAD": library_of("jemalloc")}
    at_once, lazily = (record(CASE, "refill", MALLOC_CONF=conf, **jemalloc) for conf in
                       ("dirty_decay_ms:0", "dirty_decay_ms:1000,muzzy_decay_ms:10000"))
    # Each of 50 rounds returns 4 MiB, and each round except the first needs them again.
    assert abs(at_once.totals["kernel"]["returned_bytes"] - 200 * MIB) < MIB
    assert abs(at_once.totals["kernel"]["refilled_bytes"] - 196 * MIB) < MIB
    assert lazily.totals["kernel"]["refilled_bytes"] < MIB
    advice = at_once.json["tax"]["advice"]
    assert "MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1" in advice and "in place of dirty_decay_ms:0" in advice, advice


@only_version("jemalloc", "5.3.0")
def test_muzzy_decay_has_no_effect_beside_a_dirty_decay_of_0():
    found = record(CASE, "refill", MALLOC_CONF="dirty_decay_ms:0,muzzy_decay_ms:10000", LD_PRELOAD=library_of("jemalloc"))
    assert abs(found.totals["kernel"]["refilled_bytes"] - 196 * MIB) < MIB


@pytest.mark.long("a search with ten rounds")
@available("jemalloc")
def test_lazy_return_is_tried_and_ends_the_page_faults():
    found = advise(CASE, "refill", options=["--settings-only", "--rounds", "10"], MALLOC_CONF="dirty_decay_ms:0",
                   LD_PRELOAD=library_of("jemalloc"))
    row = found.remedy("jemalloc: lazy return")
    assert row["verdict"] == "FASTER" and row["ratios"]["faults"]["median"] < 0.1, found.out
    assert found.advice["kind"] == "remedy"


@pytest.mark.parametrize("way", ["call", "dlsym"])
def test_memory_that_a_timer_trims_is_no_matter_of_thresholds(way):
    found = record(CASE, "trims" if way == "call" else "found-trims", **KEEPS)
    # Each trim returns the whole pages of 256 free blocks of 64 KiB, which are needed again.
    least, most = (TRIMS * 256 * pages * PAGE for pages in (14, 16))
    assert least <= found.totals["kernel"]["refilled_bytes"] <= most
    assert found.totals["kernel"]["refilled_bytes"] == pytest.approx(found.totals["returned"]["bytes"], rel=0.01)
    assert "sampled_calls" not in found.totals["returned"] or found.totals["returned"]["sampled_calls"] == 0
    [row] = found.totals["returned"]["rows"]
    assert (row["by"], row["mechanism"]) == ("purge", "madvise")
    advice = found.json["tax"]["advice"]
    assert "call malloc_trim less often, or not at all" in advice and "MALLOC_" not in advice, advice
    [site] = [each for each in found.json["sites"] if each["kind"] == "purge"]
    assert site["calls"] == TRIMS and site["returned_bytes"] == row["bytes"]
    assert site["frames"][0]["function"] == "trim_by_timer"


@pytest.mark.long("a search with ten rounds")
def test_a_remedy_that_leaves_the_trims_does_not_hide_them():
    found = advise(CASE, "trims", options=["--settings-only", "--rounds", "10"], **KEEPS)
    said = found.advice["sentence"] + found.advice["recorded"]
    assert "call malloc_trim less often, or not at all" in said, found.out
    assert "glibc: raised thresholds" != found.advice["remedy"]


def test_aligned_blocks_that_fit_no_hole():
    aligned, plain = (record(CASE, way, **KEEPS) for way in ("holes", "no-holes"))
    assert plain.totals["kernel"]["zeroed_bytes"] < 6 * MIB
    if aligned.totals["kernel"]["zeroed_bytes"] < 40 * MIB:
        pytest.skip("this version of glibc reuses holes for aligned blocks")
    advice = aligned.json["tax"]["advice"]
    assert "80 MiB of 80.0 MiB were requested with an alignment" in advice, advice
    assert "use malloc where no alignment is needed" in advice and "allocate less" not in advice
    assert "alignment" not in plain.json["tax"]["advice"]


def test_buffers_for_reads_need_no_zeros():
    found = record(CASE, "reads", **KEEPS)
    assert found.totals["by_hand"]["zeroed_bytes"] == 200 * MIB
    advice = found.json["tax"]["advice"]
    assert "a read buffer needs no zeros" in advice and "replace malloc and memset by calloc" not in advice, advice


def test_over_aligned_blocks_have_no_calloc():
    found = record(CASE, "aligned")
    assert found.totals["by_hand"]["zeroed_bytes"] == 64 * MIB
    advice = found.json["tax"]["advice"]
    assert "by calloc with room to round up, or by mmap" in advice and "replace malloc" not in advice, advice


@only_version("mimalloc", "2.0.9")
def test_a_setting_that_unmapping_ignores_is_not_named():
    found = record(CASE, "huge", LD_PRELOAD=library_of("mimalloc"))
    rows = {row["mechanism"]: row["bytes"] for row in found.totals["returned"]["rows"]}
    assert rows["munmap"] > 5 * 48 * MIB * 0.9
    advice = found.json["tax"]["advice"]
    assert "MIMALLOC_" not in advice and "no other known setting" in advice, advice


# Before Linux 6.7, the kernel does not report which pages are huge; `read` stands for such a kernel.
@pytest.mark.parametrize("pagemap", ["scan", "read"])
@pytest.mark.parametrize(("way", "kind", "in_huge", "written"), [
    ("sparse", "program", 256 * MIB, 4 * 219 * PAGE),  # 219 pages in each of four mappings
    ("stacks", "stacks", 16 * 2 * MIB, None),
])
def test_huge_pages_are_billed_by_kind_and_use(way, kind, in_huge, written, pagemap):
    found = record(CASE, way, ZEROTAX_PAGEMAP=pagemap)
    huge = found.totals["kernel"]["huge_bytes"]
    if huge_pages_setting() == "never" or is_na(huge) or huge < in_huge:
        pytest.skip("the kernel had too few huge pages left, or it is not known")
    bill = found.json["huge_pages"]
    row = next(each for each in bill["rows"] if each["in"] == kind)
    assert row["bytes"] == row["examined_bytes"] == in_huge
    unwritten = row["unwritten_bytes"]
    # A thread writes to the first and last of its pages, and the C library to a few more.
    assert unwritten == in_huge - written if written else in_huge * 0.98 < unwritten < in_huge
    assert bill["unwritten_at_most_bytes"] >= unwritten
    if bill["rows"] == [row]:
        assert bill["unwritten_at_most_bytes"] == unwritten
        assert bill["more_faults_at_least"] == (in_huge - unwritten) // PAGE - in_huge // (2 * MIB)
    waits = pathlib.Path("/proc/pressure/memory")
    assert is_na(bill["memory_waits_ns"]) != (waits.exists() and waits.read_text().startswith("some"))
    assert "in huge pages were never written" in words_of(found.text)
    assert "turn off huge pages" in found.json["tax"]["advice"]


def test_huge_pages_that_are_used_have_no_bill_to_complain_about():
    found = record(CASE, "refill", GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    assert "never written" not in found.text and "turn off" not in found.json["tax"]["advice"]


@pytest.mark.long("a search with ten rounds")
def test_huge_pages_of_which_little_is_used_are_turned_off():
    if huge_pages_setting() == "never":
        pytest.skip("there are no huge pages here")
    huge = record(CASE, "sparse").totals["kernel"]["huge_bytes"]
    if is_na(huge) or huge < 200 * MIB:
        pytest.skip("the kernel had too few huge pages left, or it is not known")
    found = advise(CASE, "sparse", options=["--settings-only", "--rounds", "10", "--goal", "memory"])
    assert found.advice["remedy"] == "no huge pages in the process", found.out
    assert "perl -e 'syscall(" in found.advice["line"] and found.advice["line"].endswith("/field_case sparse")
    # 256 MiB are zeroed for 4 × 219 pages of 4 KiB.
    assert found.json["recording"]["kernel_zeroed_bytes"] > 200 * MIB
    assert found.json["recording_after"]["kernel_zeroed_bytes"] < 16 * MIB
