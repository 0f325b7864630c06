"""docs/snapshot.md: what each alternative costs, and what the parent's faults are."""
from __future__ import annotations

from reference_text import machine, or_na, reference, table
from zerotax_units import count_text, number_text, size_text, time_text

PAGE = "docs/snapshot.md"


def time(ns: float | dict) -> str:
    """A time, or n/a."""
    return or_na(ns, time_text)


def number(figure: int | dict) -> str:
    """A count, or n/a."""
    return or_na(figure, count_text)


def of_faults(faults: dict, kind: str) -> int | dict:
    """All faults of a kind on the array, before and after the child's end."""
    return faults if "na" in faults else faults["before_end"][kind] + faults["after_end"][kind]


def snapshot_block() -> str:
    """What each alternative costs, and the parent's faults and kernel time with fork."""
    run = reference("snapshot.json")
    given = run["parameters"]
    rows = []
    for result in run["results"]:
        if result["status"] != "ok":
            rows.append([result["alternative"], result["status"], *[""] * 6])
            continue
        memory, snapshot = result["memory"], result["snapshot_ns"]
        added = "n/a" if "na" in memory else size_text(memory["peak_bytes"] - memory["before_bytes"])
        rows.append([result["alternative"], time(result["writers_wall_ns"]), number_text(result["slowdown"]),
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


BLOCKS = {"results/reference/snapshot.json": snapshot_block}
