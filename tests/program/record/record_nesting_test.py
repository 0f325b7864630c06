"""`zerotax record` counts calls to the allocator and to memset if a signal handler interrupts them, if they never
return, or if the program looked up the function. All later calls are counted, too.
"""

import pytest
from conftest import MIB, is_na
from recording import PROGRAMS, record

LEFT = PROGRAMS / "left"
# Counts of the work that left.cc does after the interruption, in the order of counts_of().
WORK = (10, 10, 20, 10)
NONE = (0, 0, 0, 0)
# Counts beyond those of "none", in the order of counts_of().
MORE = {
    "siglongjmp": NONE, "siglongjmp-populated": NONE, "siglongjmp-small": NONE, "siglongjmp-deep": NONE,
    "siglongjmp-signal-stack": NONE, "siglongjmp-fork": NONE, "sigbus": NONE, "setcontext": NONE,
    # An exception allocates a block.
    "exception": (1, 0, 1, 0),
    # Calls made before the program leaves calloc.
    "calloc-left": (2, 1, 1, 0), "none-calloc": (2, 1, 2, 0),
    "handler": WORK, "handler-signal-stack": WORK, "coroutine": WORK,
    "handler-in-calloc": (12, 11, 22, 10),
}
# With these arguments, the memset of 8 MiB continues after the handler.
DONE = ("handler", "handler-signal-stack", "coroutine")


def counts_of(found):
    totals = found.totals
    return (totals["malloc_calls"], totals["calloc_calls"], totals["free_calls"], totals["by_hand"]["zeroing_stores"])


@pytest.fixture(scope="module", name="none")
def _none():
    return record(LEFT, "none")


@pytest.mark.parametrize("way", MORE)
def test_what_follows_a_call_that_was_left_is_counted(way, none):
    found = record(LEFT, way)
    assert found.status == 0, found.err
    assert tuple(now - before for now, before in zip(counts_of(found), counts_of(none))) == MORE[way]
    stores = MORE[way][3]
    assert found.totals["by_hand"]["zeroed_bytes"] == none.totals["by_hand"]["zeroed_bytes"] + stores * MIB
    cleared = found.totals["by_program"]["zeroed_bytes"] - none.totals["by_program"]["zeroed_bytes"]
    # A large store that was left by a jump does not count, because its length is unknown. A small store is counted
    # before it is done.
    assert cleared == (8 * MIB if way in DONE else 0) or (way == "siglongjmp-small" and cleared < 65_536)


def test_a_calloc_that_a_handler_interrupted_zeroed_its_block():
    plain, interrupted = record(LEFT, "none-calloc"), record(LEFT, "handler-in-calloc")
    assert interrupted.totals["zeroed_bytes"] - plain.totals["zeroed_bytes"] == pytest.approx(
        plain.totals["zeroed_bytes"] - 100_000, abs=100_000)


@pytest.mark.parametrize("way", ["default", "program", "library", "version"])
def test_functions_that_were_looked_up_are_counted(way):
    found = record(PROGRAMS / "by_handle", way)
    assert found.status == 0, found.err
    totals, none = found.totals, record(PROGRAMS / "opens").totals
    for key, calls in (("malloc_calls", 5), ("calloc_calls", 20), ("free_calls", 25)):
        assert calls <= totals[key] - none[key] <= calls + 4, key  # dlopen and dlerror allocate blocks of their own
    assert totals["by_program"]["zeroed_bytes"] - none["by_program"]["zeroed_bytes"] == 10 * MIB


@pytest.mark.parametrize("way", ["deepbind", "dlmopen"])
def test_calls_of_a_library_in_a_scope_of_its_own_are_not_claimed(way):
    found = record(PROGRAMS / "opens", PROGRAMS / "libzeroes.so", way)
    assert found.status == 0, found.err
    for key in ("malloc_calls", "calloc_calls", "free_calls"):
        assert is_na(found.totals[key]) and "its own scope" in found.totals[key]["na"]
    # An unseen store must not count as 0 bytes.
    for rows in (found.totals, found.totals["by_hand"], found.totals["by_program"], found.totals["in_free"]):
        for key in ("zeroing_stores", "zeroed_bytes", "zero_faults"):
            assert "its own scope" in rows[key]["na"]
    for row in found.json["tax"]["rows"]:
        if row["cause"] in ("redundant", "needed", "by_hand", "by_program"):
            assert "its own scope" in row["bytes"]["na"] and "its own scope" in row["cpu_ns"]["na"], row
    assert "malloc+memset n/a n/a n/a n/a" in " ".join(found.text.split())
    assert is_na(found.json["tax"]["share_of_cpu"]) and "Nothing to gain" not in found.text
    assert "RTLD_DEEPBIND or dlmopen" in " ".join(found.text.split())


def test_what_an_unseen_calloc_clears_brings_no_advice_about_the_programs_memset():
    found = record(PROGRAMS / "opens", PROGRAMS / "libzeroes.so", "small")
    assert found.status == 0, found.err
    assert is_na(found.totals["calloc_calls"]) and "clear less often" not in found.json["tax"]["advice"]


@pytest.mark.parametrize("way", ["siglongjmp", "calloc-left"])
def test_the_calls_that_follow_are_noted(way, tmp_path):
    files = {name: tmp_path / f"{name}.calls" for name in ("none", way)}
    for name, path in files.items():
        assert record(LEFT, name, options=["--calls", path]).status == 0
    assert files[way].stat().st_size == pytest.approx(files["none"].stat().st_size, abs=200)
