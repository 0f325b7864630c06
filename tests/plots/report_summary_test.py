"""The built command judges hand-made points whose truth is known. Terminal, summary.json and page repeat the same
verdict and sentence.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import zerotax_sample as sample
import validate
import write_page
from zerotax_plots.page import facts
from zerotax_plots.page import summary as words
from zerotax_plots import command
from zerotax_plots.results import read_run

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
ZEROTAX = Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build")).resolve() / "bin" / "zerotax"
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
    """Returns a point. `ns` is the time of calloc, `redundant` and `first` are the redundant bytes of later calls and
    of the first call, and `whole` is the nanoseconds to touch the block.
    """
    raw = sample.point(name, size, touch, **changes)
    raw["calloc_ns"] = {"median": ns, "p05": ns, "p95": ns}
    raw["touch_ns"] = sample.na("nothing is touched") if touch == 0 else {"median": whole, "p05": whole, "p95": whole}
    raw["free_ns"] = {"median": 0.0, "p05": 0.0, "p95": 0.0}
    raw["zeroed_bytes"] = raw["first_ops"][0]["zeroed_bytes"] = size  # includes the redundant bytes
    raw["redundant_zeroed_bytes"] = redundant
    raw["first_ops"][0]["redundant_zeroed_bytes"] = redundant if first is None else first
    return raw


def told(folder: Path, *arguments: object) -> str:
    """Returns what `zerotax findings --summary` writes on standard output."""
    done = subprocess.run(
        [ZEROTAX, "findings", folder, "--summary", "--full", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def summary_of(tmp_path: Path, *points: Raw) -> dict[str, Any]:
    """Returns the summary of a folder with these points, checked against its schema."""
    document = json.loads(told(sample.write(tmp_path, list(points)), "--json", "-"))
    assert validate.check(document, "summary") == []
    return document  # type: ignore[no-any-return]


def sentences(document: dict[str, Any], part: str) -> list[str]:
    return [each["text"] for each in document["sentences"] if each["part"] == part]


def two(tmp_path: Path) -> dict[str, Any]:
    """Returns a summary in which glibc pays at the two smaller sizes, and mimalloc at all sizes. mimalloc is slow from
    4 MiB on.
    """
    sizes = (MIB, 2 * MIB, 4 * MIB)
    return summary_of(
        tmp_path,
        *(measured("glibc", size, 1000.0, size if size < 4 * MIB else 0, first=0) for size in sizes),
        *(measured("mimalloc", size, ns, size) for size, ns in zip(sizes, (500.0, 4000.0, 2e6))),
    )


def test_a_size_without_an_answer_ends_a_range_in_terminal_json_and_page_alike(tmp_path: Path) -> None:
    points = [
        measured("glibc", MIB, 1000.0, MIB),
        measured("glibc", 2 * MIB, 1000.0, sample.na("no pagemap")),
        measured("glibc", 4 * MIB, 1000.0, 4 * MIB),
    ]
    folder = sample.write(tmp_path, points)
    answer = "at 1 MiB and 4 MiB."
    assert answer in " ".join(told(folder, "--json", folder / "summary.json").split())
    document = json.loads((folder / "summary.json").read_text())
    assert document["allocators"][0]["redundant"] == {
        "word": "some",
        "complete": False,
        "ranges": [{"from": MIB, "to": MIB}, {"from": 4 * MIB, "to": 4 * MIB}],
        "unknown": [2 * MIB],
        "text": "1 MiB and 4 MiB",
    }
    page = write_page.page(folder)
    assert answer in page and "every size" not in page


def test_the_page_of_a_folder_without_a_summary_asks_the_command(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [measured("glibc", MIB, 1000.0, MIB)])
    made = words.summary(folder / "run.json", ZEROTAX)
    assert made["missing"] == "" and len(made["each"]) == 1
    told(folder, "--json", folder / "summary.json")
    assert words.summary(folder / "run.json", tmp_path / "not there") == made


def test_the_page_without_a_summary_and_without_a_command_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sample.write(tmp_path, [measured("glibc", MIB, 1000.0, MIB)])
    monkeypatch.setattr(command, "BUILT", tmp_path / "not there")
    monkeypatch.setenv("PATH", "/nonexistent")
    made = words.summary(folder / "run.json")
    assert made["missing"] == f"No summary: run `zerotax findings {folder} --summary`." and made["each"] == []
    assert f"No summary: run <code>zerotax findings {folder} --summary</code>." in write_page.page(folder)


def test_a_damaged_summary_costs_the_page_its_summary_alone(tmp_path: Path) -> None:
    folder = sample.write(tmp_path, [measured("glibc", MIB, 1000.0, MIB)])
    (folder / "summary.json").write_text('{"schema": "zerotax.summary/9"}')
    made = words.summary(folder / "run.json", ZEROTAX)
    assert "zerotax.summary/9" in made["missing"] and "--summary --json" in made["missing"]
    assert "zerotax.summary/9" in write_page.page(folder)


def test_the_file_of_run_json_has_a_summary_too(tmp_path: Path) -> None:
    run = {**sample.run(1), "points": [measured("glibc", MIB, 1000.0, MIB)]}
    del run["points_file"]
    (tmp_path / "mine.json").write_text(json.dumps(run))
    made = words.summary(tmp_path / "mine.json", ZEROTAX)
    assert made["coverage"] == "From 1 point of 1 allocator."


def test_the_lead_names_the_two_that_are_furthest_apart_and_where(tmp_path: Path) -> None:
    document = two(tmp_path)
    apart, pays = sentences(document, "lead")
    assert (
        apart == "One calloc of 4 MiB that nobody writes to takes 1.00 µs with glibc 2.36 and 2.00 ms with mimalloc "
        "2.0.9: 2,000 times as long."
    )
    assert (
        pays == "2 of 2 allocators write zeros over memory that is zero already, though the program wrote nothing: "
        "mimalloc 2.0.9 at every size measured; glibc 2.36 at some sizes."
    )
    link = next(each["link"] for each in document["sentences"] if each["text"] == apart)
    assert words.fragment(link) == "#case=calloc_loop&touch=0&thread=main&at=4194304&go=time"


def test_each_allocator_is_told_when_it_pays_and_by_how_much_it_is_slower(tmp_path: Path) -> None:
    glibc, mimalloc = sentences(two(tmp_path), "each")
    assert (
        glibc == "Writes zeros over memory that is zero already, at 1 MiB to 2 MiB. The first calloc of a process writes "
        "no needless zeros. Worst case: 1 MiB, 1.00 µs a call, 2.0 times that of mimalloc 2.0.9 (500 ns); each calloc writes "
        "1,048,576 redundant bytes, with 0 page faults."
    )
    assert mimalloc.startswith(
        "Writes zeros over memory that is zero already, at every size, 1 MiB to 4 MiB. Slow at 4 MiB. Worst case: "
        "4 MiB, 2.00 ms a call, 2,000 times that of glibc 2.36 (1.00 µs)"
    )


def test_a_healthy_one_is_told_so_with_its_first_call(tmp_path: Path) -> None:
    sizes = (MIB, 2 * MIB)
    document = summary_of(tmp_path, *(measured("jemalloc", size, 100.0, 0, first=size) for size in sizes))
    assert sentences(document, "each") == [
        "Never writes zeros over memory that is zero already, at any of 2 sizes. The first calloc of a process "
        "writes needless zeros, at every size, 1 MiB to 2 MiB."
    ]
    assert sentences(document, "lead") == [
        "None of 1 allocator writes zeros over memory that is zero already, though the program wrote nothing."
    ]


@pytest.mark.parametrize("redundant, pays", [(MIB // 2, "always"), (MIB // 2 - 1, "never"), (0, "never")])
def test_half_a_block_is_a_tax_and_a_byte_less_is_none(tmp_path: Path, redundant: int, pays: str) -> None:
    document = summary_of(tmp_path, measured("glibc", MIB, 1.0, redundant))
    assert document["allocators"][0]["redundant"]["word"] == pays


def test_who_writes_all_of_it_is_told_the_whole_operation(tmp_path: Path) -> None:
    document = summary_of(
        tmp_path,
        measured("glibc", MIB, 1000.0, 0, touch=1.0, whole=1000.0),
        measured("scudo", MIB, 1000.0, 0, touch=1.0, whole=2000.0),
    )
    written = [each for each in document["sentences"] if each["part"] == "for_whom"][1]
    assert (
        written["text"] == "At 1 MiB, calloc, writing every page and free together take 2.00 µs with glibc 2.36 and "
        "3.00 µs with scudo 14.0.6: 1.5 times as long."
    )
    assert "touch=1" in (words.fragment(written["link"]) or "")
    assert "time.f=whole_ns" in (words.fragment(written["link"]) or "")


def test_worker_threads_are_told_apart_where_they_zero_otherwise(tmp_path: Path) -> None:
    def at(name: str, worker: int) -> list[Raw]:
        return [
            measured(name, MIB, 1.0, 0),
            measured(name, MIB, 1.0, worker, thread="worker"),
        ]

    document = summary_of(tmp_path / "a", *at("glibc", MIB), *at("scudo", sample.PAGE))
    assert (
        sentences(document, "for_whom")[2]
        == "On worker threads, glibc 2.36 zeroes other bytes needlessly than on the main thread."
    )
    assert [each["worker"]["word"] for each in document["allocators"]] == ["differs", "same"]
    same = sentences(summary_of(tmp_path / "b", *at("scudo", 0)), "for_whom")[2]
    assert same.startswith("Worker threads pay for the same needless zeros")


def test_what_was_not_measured_names_the_command_that_would(tmp_path: Path) -> None:
    assert sentences(summary_of(tmp_path, measured("glibc", MIB, 1.0, 0)), "for_whom") == [
        "Not known: no two allocators were measured at the same size with touch 0.",
        "Not measured: run `zerotax run --touch 1 --size 100MiB`.",
        "Worker threads were not measured: run `zerotax study --thorough`, or `zerotax run --thread worker --size 100MiB`.",
        "Not measured: run `zerotax run --case recv_buffer --size 100MB`.",
    ]


def test_receiving_is_told_by_rate(tmp_path: Path) -> None:
    points = [sample.receiving("glibc", 10**8, mb_per_s=600.0), sample.receiving("mimalloc", 10**8, mb_per_s=0.5)]
    assert (
        sentences(summary_of(tmp_path, *points), "for_whom")[3]
        == "With buffers of 100 MB, 600 MB/s arrive with glibc 2.36 and 0.5 MB/s with mimalloc 2.0.9."
    )


def test_settings_are_in_the_names(tmp_path: Path) -> None:
    points = [measured("glibc", MIB, 1.0, 0, env={"A": "1"}), measured("scudo", MIB, 2.0, 0)]
    names = ["glibc 2.36 [A=1]", "scudo 14.0.6"]
    assert [each["label"] for each in summary_of(tmp_path, *points)["allocators"]] == names
    assert sorted(facts.full_names(read_run(tmp_path)).values()) == names
