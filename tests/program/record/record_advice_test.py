"""Advice follows from counts. For each cause, one program fits the advice, and a similar program does not."""
import re

import pytest
from allocators_here import available, library_of, only_version
from recording import PROGRAMS, record

ADVISES = PROGRAMS / "advises"
# With these settings, glibc keeps all freed memory, except memory that malloc_trim returns.
KEEPS = {"MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_MMAP_THRESHOLD_": "1073741824"}


def advice_of(*words, **environment):
    found = record(ADVISES, *words, **environment)
    return found.json["tax"]["advice"]


@pytest.mark.parametrize(("way", "words"), [
    # The first three programs clear memory by hand. calloc helps only the first program: it does not align blocks, and
    # it also clears memory that is not fresh.
    ("hand", "replace malloc and memset by calloc"),
    ("hand-aligned", "by calloc with room to round up, or by mmap"),
    ("read", "which calloc would clear as well"),
    ("hold", "allocate less, or free earlier"),
    # The first blocks of the eight threads are separate mappings, and are returned once. Refilled memory nevertheless
    # costs most, including the time of these returns.
    ("buffers", "MALLOC_TRIM_THRESHOLD_=1073741824"),
    # The next four programs return memory that they need again.
    ("trims", "call malloc_trim less often"),
    ("stacks", "keep threads for further work"),
    ("unmaps", "keep and reuse the memory that the program itself returns"),
    ("refills", "MALLOC_TRIM_THRESHOLD_=1073741824"),
    # The settings above do not affect blocks of 1 GiB and more.
    ("refills-huge", "no known setting makes the allocator keep blocks of this size"),
    # The children copy many more pages than the program has zeroed.
    ("copies", "zerotax cow -- COMMAND"),
])
def test_each_cause_has_its_advice(way, words):
    advice = advice_of(way, **(KEEPS if way == "trims" else {}))
    assert words in advice, advice
    others = ["memset by calloc", "or by mmap", "as well", "allocate less", "malloc_trim less", "keep threads", "itself returns",
              "MALLOC_TRIM"]
    assert [each for each in others if each in advice] == [each for each in others if each in words], advice


def test_blocks_that_are_all_freed_are_not_allocated_less():
    advice = advice_of("holes", **KEEPS)
    assert "another allocator" in advice and "allocate less" not in advice, advice
    assert re.search(r"at most [0-9.]+ MiB of [0-9.]+ MiB that the allocator held", advice), advice


@pytest.mark.parametrize("way", ["mapping", "data"])
def test_memory_outside_the_allocator_is_no_fault_of_the_allocator(way):
    advice = advice_of(way, **KEEPS)
    assert "another allocator" not in advice, advice


def test_a_setting_is_named_with_the_trims_that_it_does_not_end():
    assert "names malloc_trim, whose calls return memory in spite of the setting" in advice_of("refills")


def test_no_setting_is_named_that_the_program_overrides():
    advice = record(PROGRAMS / "sets_options").json["tax"]["advice"]
    assert "MALLOC_" not in advice and "(mallopt)" in advice, advice


def test_no_setting_is_named_that_is_set():
    everything = {"MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_MMAP_THRESHOLD_": "1048576"}
    advice = advice_of("refills", **everything)
    assert "in place of MALLOC_MMAP_THRESHOLD_=1048576" in advice, advice
    tunables = advice_of("refills", GLIBC_TUNABLES="glibc.malloc.mmap_threshold=1048576:glibc.malloc.check=0")
    assert "GLIBC_TUNABLES=glibc.malloc.check=0:glibc.malloc.mmap_threshold=1073741824" in tunables, tunables


@available("jemalloc")
def test_a_setting_without_a_bound_is_named_with_the_limit_of_its_trial():
    advice = advice_of("refills", LD_PRELOAD=library_of("jemalloc"), MALLOC_CONF="narenas:2,dirty_decay_ms:0")
    assert "MALLOC_CONF=narenas:2,dirty_decay_ms:-1" in advice and "in place of dirty_decay_ms:0" in advice, advice
    limit = re.search(r"under a limit of (\d+) MiB", advice)
    assert limit and 256 < int(limit[1]) < 600, advice


@available("jemalloc")
def test_of_blocks_that_grow_no_memory_is_kept_without_end():
    """Without decay, jemalloc takes several times the memory, and more page faults."""
    advice = advice_of("grows", LD_PRELOAD=library_of("jemalloc"))
    assert "MALLOC_CONF=lg_extent_max_active_fit:8" in advice and "decay" not in advice, advice


@available("tcmalloc")
def test_a_users_own_setting_is_undone():
    library = library_of("tcmalloc")
    advice = advice_of("refills", LD_PRELOAD=library, TCMALLOC_AGGRESSIVE_DECOMMIT="1")
    assert "TCMALLOC_AGGRESSIVE_DECOMMIT=0" in advice and "in place of TCMALLOC_AGGRESSIVE_DECOMMIT=1" in advice, advice
    assert "TCMALLOC_RELEASE_RATE" not in advice


@only_version("mimalloc", "2.0.9")
def test_a_setting_of_another_version_is_not_named():
    advice = advice_of("refills", LD_PRELOAD=library_of("mimalloc"))
    assert "MIMALLOC_PURGE_DELAY" not in advice, advice
    # mimalloc returns blocks of 48 MiB by munmap, which its settings do not prevent.
    assert "MIMALLOC_" not in advice and "no other known setting makes the allocator keep memory" in advice, advice
