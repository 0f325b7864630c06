"""docs/snapshot.md: what each alternative costs, and what the parent's faults are."""
from __future__ import annotations

from reference_text import machine, or_na, reference, table
from zerotax_plots.units import count_text, number_text, size_text, time_text

PAGE = "docs/snapshot.md"


def time(ns: float | dict) -> str:
    """A time, or n/a."""
    return or_na(ns, time_text)


def number(figure: int | dict) -> str:
    """A count, or n/a."""
    return or_na(figure, count_text)


def other_machine(run: dict) -> str:
    """What was measured and where, if not on the machine of the page's first table."""
    first, own = (machine(each, "../").split(" on ", 1)[1] for each in (reference("snapshot.json"), run))
    return "" if own == first else f"\n\n{machine(run, '../')}"


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
            ("writers held until then", "faults_held", "cpu_held", "after_end")):
        kernel = fork[cpu].get(part, {}).get("kernel_ns", {})
        copying = {} if isinstance(kernel, dict) else fork[cpu][part]["sections_ns"]["copy"]
        counts = fork[faults].get(part, {})
        parts.append([what, *(number(counts.get(kind, {})) for kind in ("copies", "reuses")), time(kernel), time(copying)])
    return (f"{table(head, rows)}\n\n({size_text(given['array_bytes'])}, {given['writers']} writers, {given['checkpointers']} "
            f"thread to copy, batches of {size_text(given['batch_bytes'])}; medians of {given['repeat']} runs)\n\n"
            f"{table(['fork: the parent', 'copied', 'reused', 'in the kernel', 'copying'], parts)}\n\n"
            f"(faults come from one run, times from another)\n\n{machine(run, '../')}")


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
    head = ["alternative", "remedy of", "reuse faults", "kernel time", "helper's CPU time", "saved", "effect"]
    size = size_text(run["parameters"]["array_bytes"])
    return f"{table(head, rows)}\n\n({size}; all writes come after the child's end){other_machine(run)}"


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
    head = ["alternative", "writers need", "times", "complete after", "copied", "after the end",
            "destination: parent's zero-fills", "child's copies, zero-fills"]
    given = next(r["parameters"] for r in run["results"] if "parameters" in r)
    return (f"{table(head, rows)}\n\n({size_text(run['parameters']['array_bytes'])}, {given['writers']} writers, "
            f"{given['checkpointers']} threads to copy, on {run['environment']['cpus']} CPUs; medians of "
            f"{run['parameters']['repeat']} runs; pages of {size_text(run['environment']['page_bytes'])}){other_machine(run)}")


BLOCKS = {
    "results/reference/snapshot.json": snapshot_block,
    "results/reference/snapshot_remedies.json": remedies_block,
    "results/reference/snapshot_published.json": published_block,
}
