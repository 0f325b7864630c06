"""Blocks about what allocators do: the study, loops, receive buffers, policies, comparisons and releases."""
from __future__ import annotations

import json
import textwrap
from typing import Any, NamedTuple

from inline_numbers import filled, rows_of
from reference_text import REFERENCE, block, machine, of_allocators, or_na, reference, rows_table, table, time
from zerotax_plots.histories import Version, lines_of, short, word_at
from zerotax_plots.units import count_text, given_size_text, number_text, plain_text, size_text

MIB = 1 << 20
POLICIES = ("glibc", "jemalloc", "mimalloc", "tcmalloc", "libmalloc-116", "purge", "memset", "dirty", "adaptive")
RECEIVED = [16 << 10, 100_000_000, 128 << 20, 1000 << 20]
LARGE = RECEIVED[1]
YEARS = REFERENCE / "years"


def study_row(allocator: dict) -> list[str]:
    """Returns the row of one allocator in the study's table: two times, the sizes with redundant zeroing, and the worst
    case.
    """
    worst = "" if allocator["redundant"]["word"] == "never" else "{worst/ns time} at {worst/size_bytes bytes}"
    return rows_of([allocator], "{label text}", "{headline/0/time text}", "{headline/1/time text}", "{redundant/text text}",
                   worst)[0]


@block("docs/study.md", "/summary.json")
def study_block() -> str:
    """Returns the study's table, and a line on its machine."""
    allocators = reference("summary.json")["allocators"]
    sizes = [f"calloc({size_text(size['size_bytes'])})" for size in allocators[0]["headline"]]
    rows = table(["calloc, then free", *sizes, "redundant zeroing at", "worst calloc"], list(map(study_row, allocators)))
    return f"{rows}\n\n{machine(reference('run.json'))}"


# loop: eight buffers of 1 MiB that are freed together and needed again


def refill_row(point: dict, settings: str = "") -> list[str]:
    """Returns the row of one allocator: refilled bytes, the calls that returned memory, and the faults and time of a round."""
    ways = [way for way in ("munmap", "madvise", "brk") if point.get(f"returned_by_{way}_bytes")]
    return rows_of([point], f"{{allocator text}} {{version text}}{settings}", "{refilled_bytes count}", ", ".join(ways),
                   "{calloc_faults + touch_faults + free_faults whole}", "{calloc_ns + touch_ns + free_ns time}")[0]


@block("docs/loop.md", "/refill_loop.json")
def refill_block() -> str:
    """Returns the table of refills per round of eight buffers of 1 MiB."""
    run = reference("refill_loop.json")
    rows = [refill_row(point) for point in run["points"]]
    rows[1:1] = [refill_row(point, ", both thresholds raised") for point in reference("refill_loop_kept.json")["points"]]
    head = ["8 × 1 MiB, per round", "refilled bytes", "returned by", "page faults", "time"]
    return f"{table(head, rows)}\n\n(on the machine above)"


# receiving: receive buffers, in the case recv_buffer and in Python's clients


@block("docs/loop.md", "/recv_buffer.json")
def case_block() -> str:
    """Returns the rates of the case recv_buffer in MB/s, with the bytes zeroed for each byte."""
    run = reference("recv_buffer.json")
    transfer = {(p["allocator"], p["size_bytes"]): p["transfer"] for p in run["points"] if p["case"] == "recv_buffer"}
    rows = [[name, *(or_na(transfer[name, size]["mb_per_s"], number_text) for size in RECEIVED),
             *rows_of([transfer[name, LARGE]], "{cpu_s_per_gb number}", "{zeroed_per_received_byte number}")[0]]
            for name in of_allocators(run["points"])]
    head = ["MB/s received by TLS", *map(given_size_text, RECEIVED), "CPU s/GB", "zeroed"]
    return (f"{table(head, rows)}\n\n(CPU s/GB and zeroed are for 100 MB; zeroed is in bytes for each byte "
            "received; on the machine above)")


@block("docs/loop.md", "/clients.json")
def clients_block() -> str:
    """Returns the rates of the clients at 100 MB, in MB/s."""
    run = reference("clients.json")
    names = [client["name"] for client in run["clients"]]
    found = {(r["allocator"], r["client"]): r["mb_per_s"] for r in run["results"] if r["size_bytes"] == LARGE}
    rows = [[name, *(or_na(found[name, client], number_text) for client in names)] for name in of_allocators(run["points"])]
    versions: dict[str, str] = {}
    for result in run["results"]:
        if "na" not in result["versions"]:
            versions.update(result["versions"])
    said = ", ".join(f"{name} {version}" for name, version in sorted(versions.items(), key=lambda v: v[0].lower()))
    return f"{table([f'MB/s, {given_size_text(LARGE)}', *names], rows)}\n\n({said}; on the machine above)"


def long_time_text(seconds: float) -> str:
    """Returns a duration in seconds below 120 s, in minutes below an hour, otherwise in hours: 28 s, 17 min, 1.5 h."""
    for unit, name, most in ((1, "s", 120), (60, "min", 3600)):
        if seconds < most:
            return f"{count_text(round(seconds / unit))} {name}"
    return f"{plain_text(round(seconds / 3600, 1))} h"


@block("docs/loop.md", "/clients_2016.json")
def download_block() -> str:
    """Returns the measured rates of requests_2016 beside the rates published in 2016, and the time to download 1 GB at
    each measured rate.
    """
    published = {10_000_000: "no effect", 100_000_000: "below 1 MB/s", 1_000_000_000: "below 100 KB/s"}
    rows = [[given_size_text(its["size_bytes"]), published[its["size_bytes"]], f"{number_text(its['mb_per_s'])} MB/s",
             long_time_text(1000 / its["mb_per_s"])]
            for its in reference("clients_2016.json")["results"] if its["client"] == "requests_2016"]
    head = ["requests_2016, glibc", "published in 2016", "measured", "1 GB at this rate"]
    return f"{table(head, rows)}\n\n(on the machine above)"


# largecache: each policy compared with other allocators


def touched(cell: dict) -> str:
    """Returns the share of pages that a cell touches."""
    return f"{plain_text(cell['touch'] * 100)} %"


@block("docs/largecache.md", "/policies.json 100 MiB")
def policies_block() -> str:
    """Returns the times at 100 MiB, with a row for each allocator or policy and a column for each touched share."""
    run = reference("policies.json")
    cells = [cell for cell in run["groups"][0]["cells"] if cell["sizes"] == [100 * MIB]]
    rows = [[name, *(time(cell["contenders"][name]["ns"]) for cell in cells)] for name in POLICIES]
    rows.append(["limit", *(time(cell["limit_ns"]) for cell in cells)])
    return (f"Time of calloc + touch + free, 100 MiB, by share of pages touched:\n\n"
            f"{table(['', *map(touched, cells)], rows)}\n\n"
            f"Measured on Linux {run['environment']['kernel']}, {run['environment']['cpu']}.\n"
            "[policies.svg](../results/reference/policies.svg) shows every allocator and policy.")


def worst(cells: list[dict]) -> str:
    """Returns the cell with adaptive's worst ratio to the cheapest other contender, or "" if all ratios are near 1."""
    beyond = [cell for cell in cells if not cell["verdict"]["near_kept"]]
    if not beyond:
        return ""
    cell = max(beyond, key=lambda each: each["verdict"]["to_best_other"])
    sizes = " + ".join(map(size_text, cell["sizes"])) + (f", {cell['threads']} threads" if cell["threads"] > 1 else "")
    return f"{number_text(cell['verdict']['to_best_other'])} × {cell['verdict']['best_other']} ({sizes}, {touched(cell)} touched)"


@block("docs/largecache.md", "/policies.json promises")
def promises_block() -> str:
    """Returns a row for each group: how many cells are near the cheapest other contender, and the worst cell."""
    rows = [[group["heading"], f"{sum(cell['verdict']['near_kept'] for cell in group['cells'])} of {len(group['cells'])}",
             worst(group["cells"])] for group in reference("policies.json")["groups"]]
    return rows_table(["access", "cells within 1.05 × the cheapest", "worst"], rows, "|:--|:--|:--|")


@block("allocators/largecache/DESIGN.md", "/stress-largecache.txt")
def stress_block() -> str:
    """Returns the last line of the stress run, with the policies that took part."""
    *rounds, total = (REFERENCE / "stress-largecache.txt").read_text(encoding="utf-8").splitlines()
    policies = sorted({line.split(":")[0] for line in rounds})
    size, _, what = total.partition(" ")
    return (f"Eight threads and a forking one, {', '.join(policies)} in turn: {count_text(int(size))} "
            f"{what.replace(': ', ', ')}\n([results/reference](../../results/reference), stress-largecache.txt).")


# compare: false alarms of allocators compared with themselves, and a crossing in the words of the command


@block("docs/compare.md", "/compare-self-test")
def self_test_block() -> str:
    """Returns how many comparisons of an allocator with itself had a point that was FASTER or SLOWER."""
    runs = [reference(file.name) for file in sorted(REFERENCE.glob("compare-self-test-*.json"))]
    tests = [run["false_alarms"]["self_test"] for run in runs]
    return (f"In the reference run, {sum(test['alarms'] for test in tests)} of {sum(test['comparisons'] for test in tests)} "
            f"comparisons of {len(runs)} allocators with themselves had a false alarm\n"
            f"(Linux {runs[0]['old']['environment']['kernel']}; [results/reference](../results/reference), "
            "compare-self-test-*.json).")


@block("docs/compare.md", "/crossover.json")
def crossover_block() -> str:
    """Returns the printed text, and the machine of the measurement."""
    text = (REFERENCE / "crossover.txt").read_text(encoding="utf-8").strip()
    return f"```\n{text}\n```\n\n" + filled(
        "(Linux {environment/kernel text}, {environment/cpu text}, {environment/cpus text} CPUs; "
        "[crossover.json](../results/reference/crossover.json))", reference("crossover.json"))


# history: commits that bisections named, and changes between releases


class Turn(NamedTuple):
    """A change of later callocs of `size` between two successive releases. `words` are the figure's words before and
    after.
    """

    between: tuple[str, str]
    size: int
    words: tuple[str, str]


def measured_lines(document: dict[str, Any]) -> list[list[Version]]:
    """Returns the lines of releases, without releases that could not be built or measured."""
    lines = lines_of(document["versions"], len(document["versions"]))
    return list(filter(None, ([version for version in line if "pieces" in version] for line in lines)))


def turns_of(document: dict[str, Any], line: list[Version]) -> list[Turn]:
    """Returns all changes within a line of releases, oldest first, without changes from or to an unknown word."""
    turns = []
    for before, after in zip(line, line[1:]):
        for size in document["grid"]["sizes"]:
            old, new = (word_at(version, size) or "unknown" for version in (before, after))
            if old != new and "unknown" not in (old, new):
                turns.append(Turn((short(before["name"]), short(after["name"])), size, (old, new)))
    return turns


def name_of(commit: dict[str, Any]) -> str:
    """Returns the release of a commit, or the first digits of its hash."""
    return short(commit["tag"]) if isinstance(commit["tag"], str) else commit["commit"][:8]


@block("docs/history.md", "/years bisect")
def commits_block() -> str:
    """Returns a row for each bisection, with the commit that made the change. If a merge brought the change, the row
    has the commit from the merged line.
    """
    rows = []
    for file in sorted(YEARS.glob("*/bisect-*.json")):
        found = json.loads(file.read_text(encoding="utf-8"))
        first = next(found[key] for key in ("first_bad", "first_good") if "na" not in found[key])
        ends = [name_of(found[key]) for key in (("good", "bad") if "na" in found["first_good"] else ("bad", "good"))]
        commit = first if "na" in found["origin"] else found["origin"]
        size = size_text(found["question"]["place"]["size_bytes"])
        metric, before = first["before"]["value"].rsplit(" is ", 1)
        assert metric.endswith("redundant_zeroed_bytes"), f"{file}: the table has no column for {metric}"
        rows.append([f"{found['allocator']} {' to '.join(ends)}", f"{'first ' * metric.startswith('first.')}{size}",
                     f"{before} → {first['value'].rsplit(' is ', 1)[-1]}",
                     f"[{commit['commit'][:8]}](../{file.with_suffix('.txt').relative_to(REFERENCE.parents[1])}): "
                     f"{textwrap.shorten(commit['subject'], 40, placeholder='…')}"])
    return rows_table(["releases", "calloc", "redundant zeroed bytes", "commit"], rows)
