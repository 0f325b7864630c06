"""Blocks about what the kernel does: fork, copy-on-write, snapshots, promises and kernels."""
from __future__ import annotations

import re

from inline_numbers import filled, rows_of
from reference_text import REFERENCE, block, machine, number, or_na, reference, rows_table, table, time
from zerotax_plots.units import count_text, number_text, percent_text, plain_text, size_text, time_text

SIZE = 1 << 30
QEMU = "upstream/qemu-user"
SHORT = {"kept": "kept", "broken": "**broken**", "unsupported": "no", "not testable here": "n/a"}
COW_PROGRAMS = {"bigarray_python": "`bigarray.py`", "bigarray_ruby": "`bigarray.rb`", "prefork": "`prefork.c`"}
# Counts of machines.json that share a row.
GROUPS = {
    "zeroed, redundant, populated": ["zeroed_bytes", "redundant_zeroed_bytes", "first operations: zeroed_bytes",
                                     "first operations: redundant_zeroed_bytes", "populated_bytes"],
    "zeroed in free": ["zeroed_in_free_bytes"],
    "kernel-zeroed, returned, refilled": ["kernel_zeroed_bytes", "returned_bytes", "refilled_bytes"],
    "faults, steady": ["calloc_faults", "touch_faults", "free_faults"],
    "faults of first callocs": ["first operations: calloc_faults"],
    "system calls": ["calloc_syscalls", "free_syscalls"],
    "`record`": ["record: zeroed_bytes", "record: refilled_bytes", "record: returned_bytes", "record: minor_faults"],
    "`cow`": ["cow"],
    "`check` of a baseline": ["check"]}


# contract, and the promises that QEMU's user mode breaks


def places_table(places: dict, found: dict) -> str:
    """Returns a row for each place of the contract test: its kernel, and the number of promises per verdict."""
    rows = []
    for name, told in places.items():
        if name not in found:
            rows.append([f"`{name}`", told["what"], "n/a: " + told["na"], "", "", "", ""])
            continue
        counts, system = found[name]["counts"], found[name]["tested_on"]
        rows.append([f"`{name}`", told["what"], f"{system['kernel']}, {system['machine']}",
                     *(str(counts[key]) for key in ("kept", "broken", "unsupported", "not_testable_here"))])
    return rows_table(["place", "what it is", "kernel, machine", "kept", "broken", "unsupported", "not testable"], rows)


def broken_list(found: dict) -> str:
    """Lists each broken promise with its detail, and the places in which it is broken with the same detail."""
    places: dict[tuple[str, str], list[str]] = {}
    for name, document in found.items():
        for row in document["promises"]:
            if row["verdict"] == "broken":
                places.setdefault((row["id"], row["detail"]), []).append(f"`{name}`")
    return "\n".join(f"- `{promise}`, in {' and '.join(names)}: {detail.replace(': it succeeded', ' succeeded')}"
                     for (promise, detail), names in places.items())


@block("docs/contract.md", "/contract")
def contract_block() -> str:
    """Returns the table of places and the list of broken promises."""
    places = reference("contract/places.json")
    found = {name: reference(f"contract/{name}.json") for name in places
             if (REFERENCE / "contract" / f"{name}.json").exists()}
    first = next(iter(found.values()))
    kept_in = [{row["id"] for row in each["promises"] if row["verdict"] == "kept"} for each in found.values()]
    return (f"{places_table(places, found)}\n\n"
            f"{len(set.intersection(*kept_in))} promises are kept in all of these places. The broken promises:\n\n"
            f"{broken_list(found)}\n\nMeasured {first['started'][:10]}; "
            "[results/reference/contract](../results/reference/contract) has every verdict.")


@block(f"docs/{QEMU}/README.md", f"/{QEMU}")
def qemu_block() -> str:
    """Returns the counts of each version of QEMU, and a row for each promise that a version newer than the oldest breaks."""
    versions = sorted((path.stem for path in (REFERENCE / QEMU).glob("*.json")),
                      key=lambda version: [int(digits) for digits in re.findall(r"\d+", version)])
    found = {version: reference(f"{QEMU}/{version}.json") for version in versions}
    verdicts = {version: {row["id"]: row["verdict"] for row in document["promises"]} for version, document in found.items()}
    broken = [promise for promise in verdicts[versions[0]] if any(verdicts[of][promise] == "broken" for of in versions[1:])]
    rows = [[f"`{promise}`", *(SHORT[verdicts[version][promise]] for version in versions)] for promise in broken]
    counts = [[f"promises {words}", *(str(found[version]["counts"][key]) for version in versions)]
              for words, key in (("kept", "kept"), ("broken", "broken"), ("refused as unsupported", "unsupported"))]
    return (f"{rows_table(['', *(f'QEMU {version}' for version in versions)], counts + rows)}\n\n"
            "\"no\" means that the call fails as on a kernel without this call. Measured "
            f"{found[versions[0]]['started'][:10]}; the documents are in\n"
            "[results/reference](../../../results/reference/upstream/qemu-user).")


# doctor: counts that are the same under other kernels


def same_text(tested: dict, metrics: list[str]) -> str:
    """Returns in words how many counts are the same, n/a and different."""
    same, na, differs = (sum(tested["figures"][metric][kind] for metric in metrics) for kind in ("same", "na", "differs"))
    if not na and not differs:
        return "same"
    return ", ".join(f"{count} {words}" for count, words in ((same, "same"), (na, "n/a"), (differs, "differ")) if count)


@block("docs/doctor.md", "/machines.json")
def machines_block() -> str:
    """Returns a table with a column for each kernel. Users with the same result share a cell."""
    of: dict[str, list[dict]] = {}
    for tested in reference("machines.json")["machines"]:
        of.setdefault(tested["release"], []).append(tested)

    def joined(users: list[dict], metrics: list[str]) -> str:
        cells = [same_text(user, metrics) for user in users]
        if len(set(cells)) == 1:
            return cells[0]
        return "; ".join(f"{user['user']}: {words}" for user, words in zip(users, cells))

    rows = [[name, *(joined(users, metrics) for users in of.values())] for name, metrics in GROUPS.items()]
    rows.append(["promises kept", *(str(min(user["promises"]["kept"] for user in users)) for users in of.values())])
    head = ["", *(f"{release} ({users[0]['kernel'].split('-')[0].split('+')[0]})" for release, users in of.items())]
    return table(head, rows)


# cow: pages that the programs of docs/examples/programs/ copied


def said(name: str) -> str:
    """Returns what the program printed about itself, or a summary of what its workers printed."""
    lines = (REFERENCE / "cow" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    if not lines[0].startswith("worker"):
        return lines[0]
    return f"its workers wrote {', '.join(line.split()[4] for line in lines)} pages of the table"


def cow_row(name: str) -> list[str]:
    """Returns the row of one program: the children, the copies by parent and children, and the children's new memory.
    """
    run = reference(f"cow/{name}.json")
    of = {child: [p["counts"] for p in run["processes"] if (p["parent"] != 0) == child] for child in (False, True)}
    copies = {child: count_text(sum(counts["copies"] for counts in of[child])) for child in of}
    zero_fills = count_text(sum(counts["zero_fills"] for counts in of[True]))
    return [COW_PROGRAMS[name], count_text(len(of[True])), copies[False], copies[True],
            size_text(run["totals"]["copied_bytes"]), zero_fills, said(name)]


@block("docs/cow.md", "/cow")
def examples_block() -> str:
    """Returns a row for each program, and sentences on when the child's copying ended."""
    head = ["program", "children", "copied by the parent", "by its children", "bytes", "children's zero-fills",
            "the program says"]
    return (f"{table(head, [cow_row(name) for name in COW_PROGRAMS])}\n\n"
            + filled("In the JSON of `bigarray.py`, `sentence` is \"{cow/bigarray_python.json sentence text}\"\n\n"
                     "In the JSON of `bigarray.rb`, `sentence` is \"{cow/bigarray_ruby.json sentence text}\"\n\n")
            + machine(reference("cow/bigarray_python.json")))


# fork: time by section, model, alternatives, and cleared pages


@block("docs/fork.md", "/fork.json sections")
def sections_block() -> str:
    """Returns two columns for each process: the time and the share of each section."""
    fork = reference("fork.json")
    processes = [process for process in fork["processes"] if isinstance(process["samples"], list)]
    samples = [process["samples"][0] for process in processes]
    paper = {row["section"]: f"{time_text(row['ms'] * 1e6)}, {row['percent']} %" for row in fork["casper"]}
    head = ["section", "CASPER's", "in 1989", *(cell for process in processes for cell in (process["name"], "share"))]
    rows = []
    for found in zip(*(sample["sections"] for sample in samples)):
        its = found[0]["casper"]
        rows.append([found[0]["name"], its, paper.pop(its, "") if its != "-" else "",
                     *(cell for each in found for cell in (each["text"], percent_text(each["share"])))])
    for name, text, cell in (
            ("into the kernel and out", "", "{entry_ns time}"), ("sum", paper["Total fork"], "{sections_ns + entry_ns time}"),
            ("by the clock", "", "{mean_ns time}"), ("sum / clock", "", "{sum_over_mean number}"),
            ("sampled / unsampled", "", "{observer/median_ratio number}")):
        rows.append([name, "", text, *(part for sample in samples for part in (filled(cell, sample), ""))])
    facts = "; ".join(filled("*{name text}* has {facts/pages count} pages, {facts/mappings text} mappings and "
                             "{facts/descriptors text} descriptors", process) for process in processes)
    notes = "".join(f"\n\n{note}" for note in fork["notes"])
    return f"{table(head, rows)}\n\n({facts}){notes}\n\n{machine(fork)}"


ZEROING = ("nothing", "64 MiB", "1 GiB", "8 GiB", "1 GiB in huge pages")


@block("docs/fork.md", "/fork.json zeroing")
def zeroing_block() -> str:
    """Returns a row for each populated size: the pages that a fork takes, and how many of these pages the kernel
    clears.
    """
    fork = reference("fork.json")
    rows = []
    for place in fork["model"]["fit"]:
        pages = place["kernel_pages"]
        populated = size_text(place["populated_bytes"]) if place["populated_bytes"] else "nothing"
        populated += " in huge pages" if place["kind"] == "huge" else ""
        if place["sweep"] in ("base", "pages", "huge") and populated in ZEROING and "na" not in pages:
            rows.append([populated, count_text(pages["parent_table_bytes"] // fork["environment"]["page_bytes"]),
                         number_text(pages["pages"]), number_text(pages["zeroed_pages"])])
    spent = " and\n".join(filled("{samples/0/clearing/text text} in the process *{name text}* "
                                 "({samples/0/clearing/share percent} of the fork)", p) for p in fork["processes"])
    head = ["populated", "the parent's page tables (pages)", "pages that a fork takes", "of these cleared"]
    return f"{table(head, rows)}\n\nClearing the pages that a fork takes took {spent}."


@block("docs/fork.md", "/fork.json model")
def model_block() -> str:
    """Returns the terms of the model, and the model's largest errors for fitted and for held-out processes."""
    model = reference("fork.json")["model"]
    terms = [term for term in model["terms"] if not isinstance(term["ns"], dict)]
    rows = rows_of(terms, "{name text}", "{ns time}", "{low_ns time} to {high_ns time}")
    return (table(["fork costs, for", "time", "95 % interval"], rows)
            + f"\n\nThe fit has an R² of {plain_text(round(model['r_squared'], 4))}. The largest error is "
            f"{percent_text(model['worst_fit_error'])} for the fitted processes, and "
            f"{percent_text(model['worst_held_back_error'])} for {len(model['held_back'])} others.")


@block("docs/fork.md", "/fork.json ways")
def ways_block() -> str:
    """Returns the times of fork and its alternatives."""
    head = [filled("with {fork.json ways/populated_bytes bytes} populated"), "the call", "child gone after"]
    return table(head, rows_of(reference("fork.json")["ways"]["ways"], "{name text}", "{call_ns time}", "{gone_ns time}"))


# fork after calloc, by allocator


@block("docs/fork.md", "/fork_after_calloc.json untouched")
def untouched_block() -> str:
    """Returns a row for each allocator: the times and faults of fork, and of the writes to a block that was untouched
    before the fork.
    """
    run = reference("fork_after_calloc.json")
    points = [point for point in run["points"] if (point["case"], point["touch"], point["size_bytes"], point["status"]) ==
              ("fork_after_calloc", 0, SIZE, "ok")]
    head = [f"{size_text(SIZE)}, touch 0", "fork", "page tables", "child: copies", "zero-fills", "time",
            "parent: copies", "reuses", "zero-fills", "time"]
    rows = rows_of(points, "{allocator text}", "{fork/fork_ns time}",
                   "{fork/page_table_bytes bytes}", "{fork/child/copies count}", "{fork/child/zero_fills count}",
                   "{fork/child/write_ns time}", "{fork/parent/copies count}", "{fork/parent/reuses count}",
                   "{fork/parent/zero_fills count}", "{fork/parent/write_ns time}")
    return f"{table(head, rows)}\n\n{machine(run)}"


# snapshot: the cost of each alternative, and the parent's faults


def other_machine(run: dict) -> str:
    """Returns the machine of the run, or "" if it is the machine of the page's first table."""
    first, own = (machine(each).split(" on ", 1)[1] for each in (reference("snapshot.json"), run))
    return "" if own == first else f"\n\n{machine(run)}"


def of_faults(faults: dict, kind: str) -> int | dict:
    """Returns the number of faults of one kind on the array, added up from before and after the child's end."""
    return faults if "na" in faults else faults["before_end"][kind] + faults["after_end"][kind]


def alternative_row(result: dict) -> list[str]:
    """Returns the row of an alternative: its times, the added memory, the copies and the reuses."""
    if result["status"] != "ok":
        return [result["alternative"], result["status"], *[""] * 6]
    memory, snapshot = result["memory"], result["snapshot_ns"]
    added = "n/a" if "na" in memory else size_text(memory["peak_bytes"] - memory["before_bytes"])
    return [result["alternative"], time(result["writers_wall_ns"]), number_text(result["slowdown"]),
            time(result["stopped_ns"]), "" if "na" in snapshot else time(snapshot), added,
            *(number(of_faults(result["faults"], kind)) for kind in ("copies", "reuses"))]


def parent_row(fork: dict, what: str, held: str, part: str) -> list[str]:
    """Returns the parent's faults and kernel time in one part of the runs with fork."""
    cpu, counts = fork["cpu" + held].get(part, {}), fork["faults" + held].get(part, {})
    kernel = cpu.get("kernel_ns", {})
    copying = {} if isinstance(kernel, dict) else cpu["sections_ns"]["copy"]
    return [what, *(number(counts.get(kind, {})) for kind in ("copies", "reuses")), time(kernel), time(copying)]


@block("docs/snapshot.md", "/snapshot.json")
def snapshot_block() -> str:
    """Returns the costs of each alternative, and the parent's faults and kernel time with fork."""
    run = reference("snapshot.json")
    head = ["alternative", "writers need", "times", "stopped for", "complete after", "memory added", "copied", "reused"]
    fork = next(result for result in run["results"] if result["alternative"] == "fork")
    parts = [parent_row(fork, *words) for words in (
        ("until the child's end", "", "before_end"), ("after it", "", "after_end"),
        ("writers held until then", "_held", "after_end"))]
    given = filled("({array_bytes bytes}, {writers text} writers, {checkpointers text} thread to copy, batches of "
                   "{batch_bytes bytes}; medians of {repeat text} runs)", run["parameters"])
    return (f"{table(head, [alternative_row(result) for result in run['results']])}\n\n{given}\n\n"
            f"{table(['fork: the parent', 'copied', 'reused', 'in the kernel', 'copying'], parts)}\n\n"
            f"(faults come from one run, times from another)\n\n{machine(run)}")


@block("docs/snapshot.md", "/snapshot_remedies.json")
def remedies_block() -> str:
    """Returns the kinds of faults that each remedy removes after the child's end, and the time that the remedy saves.
    """
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


def published_row(result: dict) -> list[str]:
    """Returns the costs of an alternative of the published program."""
    faults = result["faults"]
    known = result["status"] == "ok" and "na" not in faults
    destination = faults.get("destination", {"na": ""}) if known else {"na": ""}
    paid = ["n/a", "n/a"]
    if "na" not in destination:
        child = destination["child"]
        paid = [number(destination["parent"]["zero_fills"]), f"{number(child['copies'])}, {number(child['zero_fills'])}"]
    of_array = [number(faults[part]["copies"]) for part in ("before_end", "after_end")] if known else ["n/a"] * 2
    return [result["alternative"], time(result["writers_wall_ns"]), or_na(result["slowdown"], number_text),
            "" if "na" in result["snapshot_ns"] else time(result["snapshot_ns"]), *of_array, *paid]


@block("docs/snapshot.md", "/snapshot_published.json")
def published_block() -> str:
    """Returns the costs of the published program and of its corrected version."""
    run = reference("snapshot_published.json")
    head = ["alternative", "writers need", "times", "complete after", "copied", "after the end",
            "destination: parent's zero-fills", "child's copies, zero-fills"]
    given = next(r["parameters"] for r in run["results"] if "parameters" in r)
    return (f"{table(head, [published_row(result) for result in run['results']])}\n\n"
            f"({size_text(run['parameters']['array_bytes'])}, {given['writers']} writers, "
            f"{given['checkpointers']} threads to copy, on {run['environment']['cpus']} CPUs; medians of "
            f"{run['parameters']['repeat']} runs; pages of {size_text(run['environment']['page_bytes'])}){other_machine(run)}")
