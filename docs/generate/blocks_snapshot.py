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


def remedies_block() -> str:
    """What each remedy for the faults after the child's end moves and saves."""
    run = reference("snapshot_remedies.json")
    rows = []
    for result in run["results"]:
        remedy, after = result.get("remedy", {"na": ""}), result.get("after_end", {"na": ""})
        if "na" in after:
            continue
        known = "na" not in remedy
        reuses = result["faults_held"]["after_end"]["reuses"] if "na" not in result["faults_held"] else {}
        saved = "" if not known else ("-" if remedy["saved_ns"] < 0 else "") + time_text(abs(remedy["saved_ns"]))
        rows.append([result["alternative"], remedy["of"] if known else "", number(reuses), time(after["writers_system_ns"]),
                     time_text(remedy["helper_cpu_ns"]) if known else "", saved, remedy["effect"] if known else ""])
    head = ["alternative", "remedy of", "the writers' reuse faults", "their time in the kernel", "CPU time of the helper",
            "saved in all", "effect"]
    size = size_text(run["parameters"]["array_bytes"])
    return f"{table(head, rows)}\n\n({size}; all writes come after the child's end)\n\n{machine(run, '../')}"


def published_block() -> str:
    """The program as it was published, and what was meant."""
    run = reference("snapshot_published.json")
    rows = []
    for result in run["results"]:
        faults = result["faults"]
        known = result["status"] == "ok" and "na" not in faults
        destination = faults.get("destination", {"na": ""}) if known else {"na": ""}
        paid = ["n/a", "n/a"]
        if "na" not in destination:
            child = destination["child"]
            paid = [number(destination["parent"]["zero_fills"]), f"{number(child['copies'])}, {number(child['zero_fills'])}"]
        of_array = [number(faults[part]["copies"]) for part in ("before_end", "after_end")] if known else ["n/a"] * 2
        rows.append([result["alternative"], time(result["writers_wall_ns"]),
                     "n/a" if isinstance(result["slowdown"], dict) else number_text(result["slowdown"]),
                     "" if "na" in result["snapshot_ns"] else time(result["snapshot_ns"]), *of_array, *paid])
    head = ["alternative", "writers need", "times", "complete after", "copied until the child's end", "after it",
            "destination: filled by the parent", "copied, filled by the child"]
    given = next(r["parameters"] for r in run["results"] if "parameters" in r)
    return (f"{table(head, rows)}\n\n({size_text(run['parameters']['array_bytes'])}, {given['writers']} writers, "
            f"{given['checkpointers']} threads to copy, on {run['environment']['cpus']} CPUs; medians of "
            f"{run['parameters']['repeat']} runs; pages of 4 KiB)\n\n{machine(run, '../')}")


COPYING = {"no": "no", "until_end": "till end", "after_end": "after it"}


def sweep_block() -> str:
    """Is it copying, and is the copy done before the writers are: for each combination of the usual values."""
    run = reference("snapshot_sweep.json")
    rows = []
    for row in run["rows"]:
        verdict = row["verdict"]
        copying = verdict["is_it_copying"] if "na" not in verdict else {}
        first = row["copy_done_first_runs"]
        rows.append([row["alternative"], size_text(row["array_bytes"]), size_text(row["batch_bytes"]), str(row["writers"]),
                     str(row["checkpointers"]), time(row["writers_wall_ns"]), time(row["copy_ns"]),
                     "n/a" if isinstance(first, dict) else f"{first}/{row['runs']}",
                     COPYING[copying] if isinstance(copying, str) else "n/a"])
    head = ["alternative", "array", "batch", "writers", "copy", "writers need", "copied after", "copied first",
            "is it copying?"]
    return f"{table(head, rows)}\n\n{machine(run, '../')}"


BLOCKS = {
    "results/reference/snapshot.json": snapshot_block,
    "results/reference/snapshot_remedies.json": remedies_block,
    "results/reference/snapshot_published.json": published_block,
    "results/reference/snapshot_sweep.json": sweep_block,
}
