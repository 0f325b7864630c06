"""The summary of the report page says what the points say: hand-made points, of which the truth is known."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "plots"), str(ROOT / "tests" / "support" / "sample_results")]

import zerotax_sample as sample  # noqa: E402
from page import facts  # noqa: E402
from page import summary as words  # noqa: E402
from zerotax_results import Results, read_run  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
Raw = dict[str, Any]


def measured(
    name: str,
    size: int,
    ns: float,
    redundant: Any,
    *,
    touch: float = 0.0,
    first: Any = None,
    whole: float = 0.0,
    **changes: Any,
) -> Raw:
    """A point with this time of calloc, these redundant bytes later on and in the first call, and `whole` to touch it."""
    raw = sample.point(name, size, touch, **changes)
    raw["calloc_ns"] = {"median": ns, "p05": ns, "p95": ns}
    raw["touch_ns"] = sample.na("nothing is touched") if touch == 0 else {"median": whole, "p05": whole, "p95": whole}
    raw["free_ns"] = {"median": 0.0, "p05": 0.0, "p95": 0.0}
    raw["redundant_zeroed_bytes"] = redundant
    raw["first_ops"][0]["redundant_zeroed_bytes"] = redundant if first is None else first
    return raw


def results(tmp_path: Path, *points: Raw) -> Results:
    return read_run(sample.write(tmp_path, list(points)))


def two(tmp_path: Path) -> Results:
    """glibc pays at the two smaller sizes; mimalloc at all, and is slow from 4 MiB."""
    sizes = (MIB, 2 * MIB, 4 * MIB)
    return results(
        tmp_path,
        *(measured("glibc", size, 1000.0, size if size < 4 * MIB else 0, first=0) for size in sizes),
        *(measured("mimalloc", size, ns, size) for size, ns in zip(sizes, (500.0, 4000.0, 2e6))),
    )


def test_the_lead_names_the_two_that_are_furthest_apart_and_where(tmp_path: Path) -> None:
    found = two(tmp_path)
    apart, pays = words.lead(found, facts.taxes(found))
    assert (
        apart.text == "One calloc of 4 MiB that nobody writes to takes 1.00 µs with glibc 2.36 and 2.00 ms with mimalloc "
        "2.0.9: 2,000 times as long."
    )
    assert apart.href == "#case=calloc_loop&touch=0&thread=main&at=4194304&go=time"
    assert (
        pays.text == "Of 2 allocators, so many write zeros over memory that was zero already, though the program "
        "wrote nothing: 1 (mimalloc 2.0.9) at every size measured and 1 (glibc 2.36) at some sizes."
    )


def test_each_allocator_is_told_when_it_pays_and_by_how_much_it_is_slower(tmp_path: Path) -> None:
    glibc, mimalloc = (words.who_pays(tax) for tax in facts.taxes(two(tmp_path)))
    assert glibc == words.Sentence(
        "glibc 2.36",
        "Zeroes needlessly at 1 MiB to 2 MiB. Its first calloc in a process does not. Worst at 1 MiB: 1.00 µs a "
        "call, 2.0 times that of mimalloc 2.0.9 (500 ns).",
        "#case=calloc_loop&touch=0&thread=main&at=1048576&go=time",
    )
    assert (
        mimalloc.text == "Zeroes needlessly at every size, 1 MiB to 4 MiB. Slow at 4 MiB. Worst at 4 MiB: 2.00 ms a call, "
        "2,000 times that of glibc 2.36 (1.00 µs)."
    )


def test_a_healthy_one_is_told_so_with_its_first_call(tmp_path: Path) -> None:
    sizes = (MIB, 2 * MIB)
    found = results(tmp_path, *(measured("jemalloc", size, 100.0, 0, first=size) for size in sizes))
    (tax,) = facts.taxes(found)
    assert (
        words.who_pays(tax).text
        == "Never zeroes needlessly, at any of 2 sizes. Its first calloc in a process does, at "
        "1 MiB to 2 MiB."
    )
    assert [each.subject for each in words.lead(found, [tax])] == ["Who pays for nothing"]  # nobody to be apart from


@pytest.mark.parametrize("redundant, pays", [(MIB // 2, True), (MIB // 2 - 1, False), (0, False)])
def test_half_a_block_is_a_tax_and_a_byte_less_is_none(tmp_path: Path, redundant: int, pays: bool) -> None:
    (tax,) = facts.taxes(results(tmp_path, measured("glibc", MIB, 1.0, redundant)))
    assert bool(tax.paying) == pays


def test_ranges_are_of_neighbouring_measured_sizes(tmp_path: Path) -> None:
    sizes = [MIB << n for n in range(6)]
    pays = [True, True, False, True, False, False]
    found = results(tmp_path, *(measured("glibc", size, 1.0, size if paid else 0) for size, paid in zip(sizes, pays)))
    (tax,) = facts.taxes(found)
    assert tax.paying == [(MIB, 2 * MIB), (8 * MIB, 8 * MIB)]
    assert words.spans_text(tax.paying) == "1 MiB to 2 MiB and 8 MiB"


def test_what_could_not_be_audited_is_said_and_taken_for_nothing(tmp_path: Path) -> None:
    found = results(
        tmp_path,
        measured("glibc", MIB, 1.0, sample.na("no pagemap")),
        measured("glibc", 2 * MIB, 1.0, 0),
        measured("scudo", MIB, 1.0, sample.na("no pagemap")),
    )
    glibc, scudo = facts.taxes(found)
    assert words.who_pays(glibc).text.startswith(
        "Never zeroes needlessly, at any of 1 size. 1 size could not be audited."
    )
    assert words.who_pays(scudo).text.startswith("It is not known what it zeroes: no size could be audited.")
    assert "Of 1 allocator," in words.lead(found, [glibc, scudo])[-1].text


@pytest.mark.parametrize("ns, slow", [(99_999.0, False), (100_000.0, True)])
def test_slow_is_what_is_ten_times_the_fastest_and_can_be_noticed(tmp_path: Path, ns: float, slow: bool) -> None:
    found = results(tmp_path, measured("glibc", MIB, 10.0, 0), measured("scudo", MIB, ns, 0))
    assert [bool(tax.slow) for tax in facts.taxes(found)] == [False, slow]
    text = words.for_whom(found, facts.taxes(found))[0].text
    assert text == ("Slow are scudo 14.0.6 at 1 MiB." if slow else "No allocator measured is slow there.")


def test_who_writes_all_of_it_is_told_the_whole_operation(tmp_path: Path) -> None:
    found = results(
        tmp_path,
        measured("glibc", MIB, 1000.0, 0, touch=1.0, whole=1000.0),
        measured("scudo", MIB, 1000.0, 0, touch=1.0, whole=2000.0),
    )
    written = words.for_whom(found, facts.taxes(found))[1]
    assert (
        written.text
        == "At 1 MiB calloc, writing every page and free together takes 2.00 µs with glibc 2.36 and 3.00 µs with "
        "scudo 14.0.6, 1.5 times as long."
    )
    assert "touch=1" in (written.href or "") and "time.f=whole_ns" in (written.href or "")


def test_worker_threads_are_told_apart_where_they_zero_otherwise(tmp_path: Path) -> None:
    def at(name: str, worker: int) -> list[Raw]:
        return [measured(name, MIB, 1.0, 0), measured(name, MIB, 1.0, worker, thread="worker")]

    found = results(tmp_path, *at("glibc", MIB), *at("scudo", sample.PAGE))
    assert (
        words.for_whom(found, facts.taxes(found))[2].text
        == "In worker threads glibc zeroes other bytes needlessly than on the main thread."
    )
    same = results(tmp_path, *at("scudo", 0))
    assert words.for_whom(same, facts.taxes(same))[2].text.startswith("Worker threads pay for the same needless zeros")


def test_what_was_not_measured_names_the_command_that_would(tmp_path: Path) -> None:
    found = results(tmp_path, measured("glibc", MIB, 1.0, 0))
    texts = [each.text for each in words.for_whom(found, facts.taxes(found))]
    assert texts == [
        "Not to be said: no two allocators were measured at one size with touch 0.",
        "Not measured: run `zerotax run --touch 1 --size 100MiB`.",
        "Worker threads were not measured: run `zerotax study --full`, or `zerotax run --thread worker --size 100MiB`.",
        "Not measured: run `zerotax run --case recv_buffer --size 100MB`.",
    ]


def test_receiving_is_told_by_rate(tmp_path: Path) -> None:
    points = [sample.receiving("glibc", 10**8, mb_per_s=600.0), sample.receiving("mimalloc", 10**8, mb_per_s=0.5)]
    found = results(tmp_path, *points)
    assert (
        words.for_whom(found, [])[3].text
        == "With buffers of 100 MB, 600 MB/s arrive with glibc 2.36 and 0.5 MB/s with "
        "mimalloc 2.0.9."
    )


def test_broken_promises_come_first_with_how_many_and_why(tmp_path: Path) -> None:
    found = results(
        tmp_path,
        sample.failed("mimalloc", 2 * MIB, 0.0, "crashed", "signal 11"),
        sample.failed("mimalloc", MIB, 0.0, "crashed", "signal 6"),
        sample.failed("glibc", MIB, 1.0, "not_zero", "byte 7 is 1"),
    )
    told = words.summary(found)
    assert [(each.subject, each.text) for each in told["broken"]] == [
        ("glibc 2.36", "handed out memory that was not all zero at 1 MiB: byte 7 is 1."),
        ("mimalloc 2.0.9", "crashed at 1 MiB, and at 1 more point: signal 6."),
    ]
    assert told["coverage"] == "From 3 points of 2 allocators, 3 of them without a result."
    assert told["lead"] == []


@pytest.mark.parametrize(
    "ratio, text",
    [
        (1.0, "about as much"),
        (1.3, "1.3 times"),
        (9.94, "9.9 times"),
        (9.96, "10.0 times"),
        (1662345.0, "1,700,000 times"),
    ],
)
def test_ratios_are_told_in_two_digits(ratio: float, text: str) -> None:
    assert words.times_text(ratio) == text


def test_settings_and_preloaded_files_are_in_the_names(tmp_path: Path) -> None:
    found = results(tmp_path, measured("glibc", MIB, 1.0, 0, env={"A": "1"}), measured("glibc", MIB, 2.0, 0))
    assert sorted(facts.full_names(found).values()) == ["glibc 2.36", "glibc 2.36 [A=1]"]
