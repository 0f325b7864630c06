"""The titles of figures that are drawn from points match those points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import zerotax_sample as sample
from zerotax_plots import titles
from zerotax_plots.results import load, read_run

MIB = 1 << 20


def timed(name: str, size: int, ns: float) -> dict[str, Any]:
    return sample.point(name, size) | {"calloc_ns": {"median": ns, "p05": ns, "p95": ns}}


def of(folder: Path, *raw: dict[str, Any]) -> Path:
    return sample.write(folder, list(raw))


@pytest.mark.parametrize("count, told", [(25603, True), (25600 - 1280, True), (25600 - 1281, False)])
def test_every_page_is_all_but_a_twentieth(tmp_path: Path, count: int, told: bool) -> None:
    raw = [sample.point(name, 100 * MIB) | {"calloc_faults": faults} for name, faults in (("a", count), ("b", 1))]
    expected = "Inside an untouched calloc of 100 MiB, a faults in every page"
    assert titles.faults(load(of(tmp_path, *raw))) == (expected if told else None)


def test_the_fastest_and_the_slowest_at_the_largest_size_that_two_share(tmp_path: Path) -> None:
    run = load(of(tmp_path / "1", timed("a", MIB, 10), timed("b", MIB, 0.4), timed("b", 2 * MIB, 1)))
    assert titles.times(run) == "An untouched calloc of 1 MiB takes 1 ns with b, 10 ns with a"
    assert titles.times(load(of(tmp_path / "2", timed("a", MIB, 10), timed("b", 2 * MIB, 1)))) is None
    run = load(of(tmp_path / "3", timed("a", 100 * MIB, 10), timed("a", 1000 * MIB, 1e6)))
    assert titles.headline(run) == "An untouched calloc of 1000 MiB takes 1.00 ms with a"


def test_many_names_are_counted(tmp_path: Path) -> None:
    def told(faulting: str, others: str = "") -> str | None:
        raw = [sample.point(name, MIB) | {"calloc_faults": 256} for name in faulting]
        raw += [sample.point(name, MIB) | {"calloc_faults": 0} for name in others]
        return titles.faults(load(of(tmp_path / (faulting + "_" + others), *raw)))

    assert told("abc") == "Inside an untouched calloc of 1 MiB, a, b and c fault in every page"
    assert told("abcd") == "Inside an untouched calloc of 1 MiB, all 4 fault in every page"
    assert told("abcd", "e") == "Inside an untouched calloc of 1 MiB, 4 of 5 fault in every page"


def test_fork_and_receiving_name_both_ends(tmp_path: Path) -> None:
    raw = [sample.receiving(name, MIB) for name in ("glibc", "mimalloc")]
    raw[0]["transfer"] = {"mb_per_s": 621}
    raw[1]["transfer"] = {"mb_per_s": 2.814}
    told = titles.receiving(read_run(of(tmp_path / "1", *raw)))
    assert told == "Received into buffers of 1 MiB: 621 MB/s with glibc, 2.81 MB/s with mimalloc"
    raw = [sample.forking(name, MIB) for name in ("glibc", "mimalloc")]
    raw[0]["fork"]["fork_ns"] |= {"median": 158_000}
    raw[1]["fork"]["fork_ns"] |= {"median": 16.4e6}
    told = titles.forks(load(of(tmp_path / "2", *raw), case="fork_after_calloc"))
    assert told == "With 1 MiB from calloc that nobody wrote, fork takes 158 µs under glibc, 16.4 ms under mimalloc"
