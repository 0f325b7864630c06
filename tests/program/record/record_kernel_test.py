"""The kernel's part in `zerotax record`: the memory that was returned, by which call and how, and the memory that was
therefore zeroed again. The numbers are compared with the faults that the kernel counted, and with the programs' known
work.
"""

import functools
import os
import random
import re

import pytest
from conftest import BUILD, KIB, LONG_TOO, MIB, PAGE, SOURCE, huge_pages_setting, is_na, mostly_long
from recording import PROGRAMS, record

REFILL = PROGRAMS / "refill"
# A block of 1 MiB that glibc maps has an additional page for its header.
MAPPED_PAGES = MIB // PAGE + 1
KEEP = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}
UNMAP = {"MALLOC_MMAP_THRESHOLD_": "131072"}


def kernel(found):
    return found.totals["kernel"]


def rows(found):
    return {(row["by"], row["mechanism"]): row for row in found.totals["returned"]["rows"]}


def pages(count):
    return count * PAGE


def refill(way, rounds, buffers, size, options=(), **environment):
    """Records a run of `refill`, which prints the number of its minor faults since the start of main()."""
    found = record(REFILL, way, rounds, buffers, size, options=options, **environment)
    assert found.status == 0 and found.err == ""
    found.faults = int(found.out)
    found.zeroed_pages = kernel(found)["zeroed_bytes"] // PAGE
    return found


def check_against_the_kernels_count(found, slack=250):
    """All faults of `refill` are zero-fill faults, except those for its start and its files."""
    known = kernel(found)
    assert known["zero_fill_faults"] <= known["minor_faults"]
    assert known["minor_faults"] - known["zero_fill_faults"] <= slack
    # The number that `refill` prints is not compared, because it includes the recorder's faults. To measure costs, the
    # recorder sometimes populates as much memory as is returned.
    assert abs(found.zeroed_pages - known["minor_faults"]) <= slack


def test_a_block_unmapped_by_free_is_refilled_each_time():
    rounds = 100
    found = refill("malloc", rounds, 1, MIB, **UNMAP)
    row = rows(found)["free", "munmap"]
    assert (row["calls"], row["bytes"]) == (rounds, pages(rounds * MAPPED_PAGES))
    assert kernel(found)["returned_bytes"] == row["bytes"]
    # All rounds but the first refill memory. The peak of the process's other memory makes a difference of a page or
    # two.
    assert kernel(found)["refilled_bytes"] == pytest.approx(pages((rounds - 1) * MAPPED_PAGES), abs=pages(4))
    check_against_the_kernels_count(found)
    [site] = [s for s in found.json["sites"] if s["kind"] == "free"]
    assert site["returned_by"] == {"munmap": row["bytes"]}
    assert site["frames"][0]["file"].endswith("refill.cc")
    source = SOURCE / "tests/recorded/refill.cc"
    assert "std::free(block)" in source.read_text().splitlines()[site["frames"][0]["line"] - 1]
    [got] = [s for s in found.json["sites"] if s["kind"] == "malloc" and s["calls"] == rounds]
    assert got["kernel_zeroed_bytes"] == pages(rounds * MAPPED_PAGES)
    assert got["refilled_bytes"] == pages((rounds - 1) * MAPPED_PAGES)
    size_class = found.size_class(MIB)
    assert size_class["unpopulated_blocks"] == rounds
    assert size_class["returned_bytes"] == pages(rounds * MAPPED_PAGES)


def test_memory_that_is_kept_is_not_refilled():
    found = refill("malloc", 100, 1, MIB, **KEEP)
    assert kernel(found)["returned_bytes"] == 0 and kernel(found)["refilled_bytes"] == 0
    assert found.totals["returned"]["rows"] == []
    assert found.zeroed_pages < 2 * MAPPED_PAGES
    check_against_the_kernels_count(found)


def test_the_default_of_glibc_unmaps_one_block_and_keeps_the_others():
    # The first free raises glibc's mmap threshold above 1 MiB. Later blocks are in the heap.
    found = refill("malloc", 100, 1, MIB)
    assert list(rows(found)) == [("free", "munmap")]
    assert kernel(found)["returned_bytes"] == pages(MAPPED_PAGES)
    assert kernel(found)["refilled_bytes"] <= pages(MAPPED_PAGES)


def test_eight_buffers_freed_together_are_trimmed_by_brk():
    rounds = 20
    found = refill("malloc", rounds, 8, MIB)
    returned = rows(found)
    assert set(returned) == {("free", "munmap"), ("free", "brk")}
    # The blocks of the first round are unmapped one by one. Each later round trims the heap once, except 128 KiB
    # (M_TOP_PAD) and one page.
    assert returned["free", "munmap"]["bytes"] == pages(8 * MAPPED_PAGES)
    assert returned["free", "brk"]["calls"] == rounds - 1
    assert returned["free", "brk"]["bytes"] == pytest.approx((rounds - 1) * (8 * MIB - 128 * KIB), rel=0.001)
    assert kernel(found)["refilled_bytes"] == pytest.approx((rounds - 1) * (8 * MIB - 128 * KIB), rel=0.01)
    check_against_the_kernels_count(found)
    assert "MALLOC_TRIM_THRESHOLD_" in found.json["tax"]["advice"]
    assert found.text.endswith("\nTo find and prove a remedy: zerotax advise -- COMMAND\n")


def test_many_small_blocks_are_trimmed_too_and_counted_as_the_rest():
    # The recorder does not examine blocks of 1,000 bytes, but it sees that the heap is trimmed.
    found = refill("malloc", 10, 20_000, 1000)
    row = rows(found)["free", "brk"]
    assert row["calls"] >= 9
    assert kernel(found)["refilled_bytes"] == pytest.approx(9 * 20_000 * 1008, rel=0.02)
    assert all(r.get("kernel_zeroed_bytes", 0) < MIB for r in found.json["histogram"])
    check_against_the_kernels_count(found)


@pytest.mark.parametrize("allocator, options, way", [
    ("jemalloc", ["--env", "jemalloc:MALLOC_CONF=dirty_decay_ms:0"], "madvise"), ("scudo", [], "munmap")])
def test_a_purge_in_free_is_the_allocators(allocator, options, way):
    rounds = 15
    found = refill("malloc", rounds, 8, MIB, options=["--allocator", allocator, *options])
    returned = rows(found)
    assert returned["free", way]["bytes"] == pytest.approx(rounds * 8 * MIB, rel=0.02)
    assert kernel(found)["refilled_bytes"] == pytest.approx((rounds - 1) * 8 * MIB, rel=0.02)
    check_against_the_kernels_count(found, slack=400)


@pytest.mark.parametrize("allocator", ["mimalloc", "tcmalloc", "largecache"])
def test_allocators_that_keep_memory_refill_none(allocator):
    found = refill("malloc", 20, 8, MIB, options=["--allocator", allocator])
    assert kernel(found)["refilled_bytes"] <= 0.02 * 20 * 8 * MIB
    check_against_the_kernels_count(found, slack=400)


def test_eight_threads_are_one_process():
    rounds, size = 30, 300_000
    found = refill("threads", rounds, 8, size, **UNMAP)
    row = rows(found)["free", "munmap"]
    whole = -(-(size + 16) // PAGE)
    assert row["calls"] == rounds * 8 and row["bytes"] == pages(rounds * 8 * whole)
    assert kernel(found)["refilled_bytes"] >= pages((rounds - 1) * 8 * whole - 8 * whole)
    check_against_the_kernels_count(found, slack=400)
    [process] = found.json["processes"]
    by_thread = [t["figures"]["returned"]["bytes"] for t in process["threads"]]
    assert sorted(by_thread)[-8:] == [pages(rounds * whole)] * 8


def test_what_the_program_unmaps_is_its_own():
    found = refill("unmap", 50, 2, MIB)
    assert rows(found)["program", "munmap"]["bytes"] == 100 * MIB
    assert kernel(found)["refilled_bytes"] == pytest.approx(99 * MIB, abs=pages(4))
    assert "the program itself returns" in found.json["tax"]["advice"]
    check_against_the_kernels_count(found)


@pytest.mark.skipif(huge_pages_setting() in ("", "never"), reason="no transparent huge pages here")
def test_huge_pages_count_what_they_populate():
    rounds, size = 30, 8 * MIB
    found = refill("huge", rounds, 1, size, **UNMAP)
    known = kernel(found)
    assert known["huge_bytes"] >= 0.9 * rounds * size
    assert known["zeroed_bytes"] == pytest.approx(rounds * size, rel=0.05)
    # One fault zeroes 2 MiB.
    assert known["zero_fill_faults"] < 0.05 * rounds * size / PAGE
    assert found.json["tax"]["fault_cost"]["huge_ns_per_byte"] > 0


@pytest.mark.skipif(huge_pages_setting() in ("", "never"), reason="no transparent huge pages here")
def test_of_huge_pages_it_is_said_what_the_program_wrote():
    whole, sparse = (refill(way, 8, 1, 8 * MIB, **UNMAP).totals["huge_blocks"] for way in ("huge", "sparse"))
    assert whole["freed"] == sparse["freed"] == 8
    assert whole["written_bytes"] == 8 * 8 * MIB <= whole["examined_bytes"]
    # One page in sixteen is written.
    assert sparse["written_bytes"] == 8 * 8 * MIB // 16
    assert sparse["examined_bytes"] >= 0.9 * 8 * 8 * MIB


def test_lists_of_python_return_and_refill():
    code = "for i in range(6):\n x = [bytes(100) for _ in range(100000)]\n del x"
    found = record("/usr/bin/python3", "-c", code)
    known = kernel(found)
    # The second assertion compares the number of zeroed pages with all minor faults. Some hundred faults are for the
    # program's start and its files.
    assert known["refilled_bytes"] > 3 * 10 * MIB
    assert 0 <= known["minor_faults"] - known["zeroed_bytes"] // PAGE <= 1500


def test_a_child_counts_what_it_was_given_as_held():
    # The child takes over 8 MiB that were zeroed for its parent. The child returns and refills 1 MiB at a time.
    code = ("import mmap,os\nm=mmap.mmap(-1,8<<20,mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS)\nm.write(b'x'*(8<<20))\n"
            "if os.fork()==0:\n for i in range(20):\n  n=mmap.mmap(-1,1<<20,mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS)\n"
            "  n.write(b'y'*(1<<20)); n.close()\n os._exit(0)\nos.wait()")
    found = record("/usr/bin/python3", "-c", code)
    [child] = [p for p in found.json["processes"] if p["began"] == "fork"]
    assert child["kernel"]["zeroed_bytes"] == pytest.approx(20 * MIB, rel=0.1)
    assert child["kernel"]["refilled_bytes"] == pytest.approx(19 * MIB, rel=0.1)


def test_of_a_killed_process_only_bounds_are_claimed():
    found = record("/usr/bin/python3", "-c", "import os; b = bytearray(1 << 22); os.kill(os.getpid(), 9)")
    part = kernel(found)
    assert part["zeroed_at_least_bytes"] <= 64 * MIB
    assert is_na(part["zeroed_at_most_bytes"]) or part["zeroed_at_most_bytes"] >= 4 * MIB
    assert found.json["tax"]["kernel_unknown_processes"] == 1
    assert "end of a process was not seen" in " ".join(found.text.split())


@pytest.mark.parametrize("closes", ["os.closerange(3, 4096)", "[os.dup2(os.open('/dev/zero', 0), n) for n in range(500, 530)]"])
def test_a_program_that_takes_the_recorders_descriptors_is_counted_all_the_same(closes):
    code = ("import mmap,os\ndef f(n):\n for i in range(n):\n  m=mmap.mmap(-1,1<<20,mmap.MAP_PRIVATE|mmap.MAP_ANONYMOUS)\n"
            f"  m.write(b'x'*(1<<20)); m.close()\nf(10); {closes}; f(10)")
    found = record("/usr/bin/python3", "-c", code)
    assert found.status == 0, found.err
    assert rows(found)["program", "munmap"]["bytes"] == pytest.approx(20 * MIB, rel=0.05)


MIXES = [
    ["calloc:100:100"], ["malloc:50:1000", "calloc:10:200000"], ["hand:20:100000"], ["hand:7:3000", "malloc:3:65536"],
    ["grow:9:300000"], ["fork:5:1000"], ["fork:3:400000", "calloc:2:4096"], ["new:30:64"], ["new:4:500000", "hand:2:70000"],
    ["malloc:1000:16", "calloc:1000:16", "hand:1000:16"], ["calloc:5:1048576", "malloc:5:1048576", "hand:5:1048576"],
    ["fork:2:65536", "grow:4:65536", "new:6:65536", "calloc:8:65536"],
]


@pytest.fixture(scope="module", name="empty")
def _empty():
    """Returns the recording of the C++ library's own calls, for each allocator."""
    return functools.cache(lambda allocator: record(PROGRAMS / "mix", options=["--allocator", allocator]))


@pytest.mark.parametrize(("allocator", "words"), mostly_long(
    [(allocator, words) for allocator in ("glibc", "jemalloc") for words in MIXES],
    [*(("glibc", words) for words in MIXES[4:]), ("jemalloc", MIXES[-1])], "the same calls again"),
    ids=lambda value: value if isinstance(value, str) else "+".join(value))
def test_known_calls_are_counted_exactly(words, allocator, empty):
    empty = empty(allocator)
    found = record(PROGRAMS / "mix", *words, options=["--allocator", allocator])
    expected = dict.fromkeys(("calloc_calls", "malloc_calls", "realloc_calls", "free_calls", "forks", "hand"), 0)
    for word in words:
        kind, count, size = word.split(":")
        count = int(count)
        expected["calloc_calls"] += count if kind in ("calloc", "fork") else 0
        expected["malloc_calls"] += count if kind in ("malloc", "hand", "new", "grow") else 0
        expected["realloc_calls"] += count if kind == "grow" else 0
        expected["free_calls"] += count
        expected["forks"] += count if kind == "fork" else 0
        expected["hand"] += count * int(size) if kind == "hand" else 0
    # The C++ library has some blocks of its own. A run without arguments has the same blocks.
    for key in ("calloc_calls", "malloc_calls", "realloc_calls", "free_calls"):
        assert found.totals[key] - empty.totals[key] == expected[key], key
    assert len([p for p in found.json["processes"] if p["began"] == "fork"]) == expected["forks"]
    assert found.totals["by_hand"]["zeroed_bytes"] == expected["hand"]


def random_program(seed):
    """Returns the arguments of mix for a random mixture of blocks of all sizes."""
    chosen = random.Random(seed)
    kinds = ["malloc", "calloc", "hand", "new", "grow", "fork"]
    return [f"{chosen.choice(kinds)}:{chosen.randint(1, 30)}:{int(2 ** chosen.uniform(4, 22))}"
            for _ in range(chosen.randint(1, 5))]


# Set ZEROTAX_RANDOM_PROGRAMS=1000 to test 1,000 programs.
@pytest.mark.parametrize("seed", range(int(os.environ.get("ZEROTAX_RANDOM_PROGRAMS", "30" if LONG_TOO else "9"))))
def test_no_share_of_a_random_program_is_above_one(seed):
    settings = [{}, UNMAP, KEEP][seed % 3]
    found = record(PROGRAMS / "mix", *random_program(seed), **settings)
    tax = found.json["tax"]
    shares = [tax["share_of_cpu"], found.totals["share_of_cpu"], found.totals["share_of_wall"],
              *(row["share_of_cpu"] for row in tax["rows"])]
    assert all(is_na(share) or 0 <= share <= 1 for share in shares), shares
    assert sum(row["at_least_cpu_ns"] for row in tax["rows"]) == tax["zeroing_at_least_cpu_ns"] <= tax["cpu_ns"]
    assert is_na(tax["zeroing_cpu_ns"]) or tax["zeroing_cpu_ns"] == tax["zeroing_at_least_cpu_ns"]
    assert all(float(number) <= 100 for number in re.findall(r"([0-9.]+) %", found.text)), found.text


def test_the_recorders_cost_is_a_warning_when_it_is_high():
    # The program only allocates and frees populated blocks, each of which the recorder examines.
    found = record(PROGRAMS / "loop", 64 * KIB, 20_000)
    own, all_of_it = found.json["tax"]["recorder_cpu_ns"], found.json["tax"]["cpu_ns"]
    assert (own > 0.1 * (own + all_of_it)) == ("! The recorder took" in found.text)


def test_graphs_can_be_weighed_by_the_kernels_bytes(tmp_path):
    for weight in ("kernel", "refilled", "returned"):
        folded, graph = tmp_path / f"{weight}.folded", tmp_path / f"{weight}.svg"
        found = record(REFILL, "malloc", 20, 1, MIB, options=["--folded", folded, "--svg", graph, "--weight", weight],
                       **UNMAP)
        key = "kernel_zeroed_bytes" if weight == "kernel" else f"{weight}_bytes"
        whole = sum(int(line.rsplit(" ", 1)[1]) for line in folded.read_text().splitlines())
        assert whole == sum(site[key] for site in found.json["sites"]) > 0
        assert "kernel" in graph.read_text()


def test_the_arena_stays_small():
    found = record(PROGRAMS / "mix", "fork:100:100000")
    assert len(found.json["processes"]) == 101 and found.json["lost_processes"] == 0
    assert found.json["arena_bytes"] <= 100 * 64 * KIB + MIB
    assert BUILD.exists()
