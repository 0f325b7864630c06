#!/usr/bin/env python3
"""Puts the numbers of results/reference into README.md and pages of docs, between their markers.

usage: results/update_readme.py [--check]     --check changes nothing; exit status 1 if a page is out of date
"""
from __future__ import annotations

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "results" / "reference"


def machine(run: dict, up: str = "") -> str:
    """One line on what was measured, when and on which machine; `up` leads from the page to the top folder."""
    environment = run["environment"]
    gib = environment["memory_bytes"] / 2**30
    return (f"Measured {run['started'][:10]} on Linux {environment['kernel']}, {environment['cpu']}, "
            f"{environment['cpus']} CPUs, {gib:.0f} GiB, huge pages `{environment['thp']}`; "
            f"all of it is in [results/reference]({up}results/reference).")


def summary_block() -> str:
    """The table and sentences of the study's summary, without its heading."""
    text = (REFERENCE / "summary.md").read_text(encoding="utf-8")
    table = text[text.index("| one calloc"):]
    run = json.loads((REFERENCE / "run.json").read_text(encoding="utf-8"))
    return f"{table.strip()}\n\n{machine(run)}"


def rate(figure: float | dict) -> str:
    """A rate in MB/s with three digits at most, or n/a."""
    if isinstance(figure, dict):
        return "n/a"
    return f"{figure:.3g}" if figure < 1000 else f"{float(f'{figure:.3g}'):,.0f}"


def size_text(size: int) -> str:
    """The size as it is given on the command line."""
    if size % 10**6 == 0:
        return f"{size // 10**6} MB"
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, all columns but the first to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    line = "|:" + "-" * (widths[0] + 1) + "|" + "".join("-" * (w + 1) + ":|" for w in widths[1:])
    text = ["| " + " | ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                              for i, (cell, w) in enumerate(zip(row, widths))) + " |"
            for row in [head, *rows]]
    return "\n".join([text[0], line, *text[1:]])


def of_allocators(entries: list[dict]) -> list[str]:
    """The allocators in the order of their first entry."""
    return list(dict.fromkeys(entry["allocator"] for entry in entries))


SIZES = [16 << 10, 1 << 20, 100_000_000, 128 << 20, 1000 << 20]


def case_block() -> str:
    """MB/s of the case recv_buffer, and what is zeroed for each byte."""
    run = json.loads((REFERENCE / "recv_buffer.json").read_text(encoding="utf-8"))
    transfer = {(p["allocator"], p["size_bytes"]): p["transfer"] for p in run["points"] if p["case"] == "recv_buffer"}
    rows = [[name, *(rate(transfer[name, size]["mb_per_s"]) for size in SIZES),
             rate(transfer[name, SIZES[2]]["cpu_s_per_gb"]), rate(transfer[name, SIZES[2]]["zeroed_per_received_byte"])]
            for name in of_allocators(run["points"])]
    head = ["MB/s received by TLS", *map(size_text, SIZES), "CPU s/GB", "zeroed"]
    return f"{table(head, rows)}\n\n(CPU s/GB, zeroed: for 100 MB; zeroed: bytes for each byte received)\n\n{machine(run, '../')}"


def clients_block() -> str:
    """MB/s of the clients beside that of the case."""
    run = json.loads((REFERENCE / "clients.json").read_text(encoding="utf-8"))
    names = [client["name"] for client in run["clients"]]
    parts = []
    for size in sorted({point["size_bytes"] for point in run["points"]}):
        found = {(r["allocator"], r["client"]): r["mb_per_s"] for r in run["results"] if r["size_bytes"] == size}
        case = {p["allocator"]: p["transfer"]["mb_per_s"] for p in run["points"] if p["size_bytes"] == size}
        rows = [[name, rate(case[name]), *(rate(found[name, client]) for client in names)]
                for name in of_allocators(run["points"])]
        parts.append(table([f"MB/s, {size_text(size)}", "recv_buffer", *names], rows))
    versions: dict[str, str] = {}
    for result in run["results"]:
        if "na" not in result["versions"]:
            versions.update(result["versions"])
    told = ", ".join(f"{name} {version}" for name, version in sorted(versions.items(), key=lambda v: v[0].lower()))
    return "\n\n".join([*parts, f"({told})"])


def time(ns: float | dict) -> str:
    """A time with three digits, or n/a."""
    if isinstance(ns, dict):
        return time(ns["median"]) if "median" in ns else "n/a"
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit:
            return f"{ns / unit:.3g} {name}" if ns / unit < 1000 else f"{ns / unit:,.0f} {name}"
    return f"{ns:.0f} ns"


def number(figure: int | dict) -> str:
    """A count, or n/a."""
    return "n/a" if isinstance(figure, dict) else f"{figure:,}"


def of_faults(faults: dict, kind: str) -> int | dict:
    """All faults of a kind on the array, before and after the child's end."""
    return faults if "na" in faults else faults["before_end"][kind] + faults["after_end"][kind]


def snapshot_block() -> str:
    """What each alternative costs, and the parent's faults and kernel time with fork."""
    run = json.loads((REFERENCE / "snapshot.json").read_text(encoding="utf-8"))
    given = run["parameters"]
    rows = []
    for result in run["results"]:
        if result["status"] != "ok":
            rows.append([result["alternative"], result["status"], *[""] * 6])
            continue
        memory, snapshot = result["memory"], result["snapshot_ns"]
        added = "n/a" if "na" in memory else f"{(memory['peak_bytes'] - memory['before_bytes']) / 2**20:,.0f} MiB"
        rows.append([result["alternative"], time(result["writers_wall_ns"]), f"{result['slowdown']:.2f}",
                     time(result["stopped_ns"]), "" if "na" in snapshot else time(snapshot), added,
                     *(number(of_faults(result["faults"], kind)) for kind in ("copies", "reuses"))])
    head = ["alternative", "writers need", "times", "stopped for", "complete after", "memory added", "copied", "reused"]
    fork = next(result for result in run["results"] if result["alternative"] == "fork")
    parts = []
    for what, faults, cpu, part in (
            ("until the child's end", "faults", "cpu", "before_end"), ("after it", "faults", "cpu", "after_end"),
            ("all after it: the writers waited", "faults_held", "cpu_held", "after_end")):
        kernel = fork[cpu].get(part, {}).get("kernel_ns", {})
        copying = {} if isinstance(kernel, dict) else fork[cpu][part]["sections_ns"]["copy"]
        counts = fork[faults].get(part, {})
        parts.append([what, *(number(counts.get(kind, {})) for kind in ("copies", "reuses")), time(kernel), time(copying)])
    return (f"{table(head, rows)}\n\n({size_text(given['array_bytes'])}, {given['writers']} writers, {given['checkpointers']} "
            f"thread to copy, batches of {size_text(given['batch_bytes'])}; medians of {given['repeat']} runs)\n\n"
            f"{table(['fork: the parent', 'copied', 'reused', 'in the kernel', 'copying'], parts)}\n\n"
            f"(faults, and the kernel's time and how much of it is copying, are of two runs)\n\n{machine(run, '../')}")


def with_block(page: str, marker: str, block: str) -> str:
    """The page with what is between its markers replaced."""
    pattern = re.compile(rf"(<!-- {marker} -->\n).*?(\n<!-- end -->)", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"a page has no markers '<!-- {marker} -->' and '<!-- end -->'")
    return pattern.sub(lambda found: found.group(1) + block + found.group(2), page)


PAGES = {"README.md": {"results/reference": summary_block},
         "docs/receiving.md": {"results/reference/recv_buffer.json": case_block,
                               "results/reference/clients.json": clients_block},
         "docs/snapshot.md": {"results/reference/snapshot.json": snapshot_block}}


def main() -> int:
    status = 0
    for name, blocks in PAGES.items():
        path = ROOT / name
        page = updated = path.read_text(encoding="utf-8")
        for marker, block in blocks.items():
            updated = with_block(updated, marker, block())
        if "--check" not in sys.argv[1:]:
            path.write_text(updated, encoding="utf-8")
        elif updated != page:
            print(f"{name} is not what results/reference says: run results/update_readme.py", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
