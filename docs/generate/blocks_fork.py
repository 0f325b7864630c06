"""docs/fork.md: fork by section, by clone flags, by model."""
from __future__ import annotations

from reference_text import machine, reference, table
from zerotax_units import count_text, number_text, percent_text, size_text, time_text

PAGE = "docs/fork.md"


def sections_block() -> str:
    fork = reference("fork.json")
    processes = [process for process in fork["processes"] if isinstance(process["samples"], list)]
    paper = {row["section"]: f"{time_text(row['ms'] * 1e6)}, {row['percent']} %" for row in fork["casper"]}
    head = ["section", "CASPER's", "in 1989"]
    for process in processes:
        head += [process["name"], "share"]
    rows = []
    for i, section in enumerate(processes[0]["samples"][0]["sections"]):
        its = section["casper"]
        row = [section["name"], its, paper.pop(its, "") if its != "-" else ""]
        for process in processes:
            found = process["samples"][0]["sections"][i]
            row += [found["text"], percent_text(found["share"])]
        rows.append(row)
    for name, text, cell in (
            ("into the kernel and out", "", lambda s: time_text(s["entry_ns"])),
            ("sum", paper["Total fork"], lambda s: time_text(s["sections_ns"] + s["entry_ns"])),
            ("by the clock", "", lambda s: time_text(s["mean_ns"])),
            ("sum / clock", "", lambda s: number_text(s["sum_over_mean"])),
            ("sampled / unsampled", "", lambda s: number_text(s["observer"]["median_ratio"]))):
        row = [name, "", text]
        for process in processes:
            row += [cell(process["samples"][0]), ""]
        rows.append(row)
    facts = ", ".join(f"{p['name']}: {count_text(p['facts']['pages'])} pages, {p['facts']['mappings']} mappings, "
                      f"{p['facts']['descriptors']} descriptors" for p in processes)
    notes = "".join(f"\n\n{note}" for note in fork["notes"])
    return f"{table(head, rows)}\n\n({facts}){notes}\n\n{machine(fork, '../')}"


def zeroing_block() -> str:
    fork = reference("fork.json")
    rows = []
    for place in fork["model"]["fit"]:
        pages = place["kernel_pages"]
        if place["sweep"] not in ("base", "pages", "huge") or "na" in pages:
            continue
        populated = size_text(place["populated_bytes"]) if place["populated_bytes"] else "nothing"
        rows.append([populated + (" in huge pages" if place["kind"] == "huge" else ""),
                     count_text(pages["parent_table_bytes"] // 4096), number_text(pages["pages"]),
                     number_text(pages["zeroed_pages"]), number_text(pages["contiguous"])])
    told = "; ".join(f"{p['name']}: {p['samples'][0]['clearing']['text']}, "
                     f"{percent_text(p['samples'][0]['clearing']['share'])} of the fork" for p in fork["processes"])
    head = ["populated", "page tables of the parent (VmPTE)", "pages that a fork takes", "of these cleared",
            "allocations of more than one page"]
    return f"{table(head, rows)}\n\nTime spent clearing them: {told}."


def ablation_block() -> str:
    fork = reference("fork.json")
    head = ["flags"]
    for process in fork["processes"]:
        head += [process["name"], "saved"]
    rows = []
    for i, part in enumerate(fork["processes"][0]["ablation"]):
        row = [f"`{part['flags']}`" if part["flags"].startswith("CLONE") else part["flags"]]
        for process in fork["processes"]:
            found = process["ablation"][i]
            row += [time_text(found["ns"]), "" if found["flags"] == "fork" else percent_text(found["share_saved"])]
        rows.append(row)
    told = "; ".join(f"{p['name']}: {percent_text(p['memory_share']['sampled'])} by samples, "
                     f"{percent_text(p['memory_share']['ablated'])} by CLONE_VM" for p in fork["processes"]
                     if "na" not in p["memory_share"])
    return f"{table(head, rows)}\n\nThe address space's share of a fork: {told}."


def elsewhere_block() -> str:
    fork = reference("fork.json")
    samples = fork["processes"][0]["samples"]
    rows = [[one["name"], one["text"], other["text"]]
            for one, other in zip(samples[0]["sections"], samples[1]["sections"]) if not one["of_memory"]]
    sums = [sum(s["ns"] for s in of["sections"] if not s["of_memory"]) for of in samples]
    rows.append(["sum", *map(time_text, sums)])
    return table([f"{fork['processes'][0]['name']}, beside the address space", "in a fork", "with CLONE_VM"], rows)


def model_block() -> str:
    model = reference("fork.json")["model"]
    rows = [[term["name"], time_text(term["ns"]), f"{time_text(term['low_ns'])} to {time_text(term['high_ns'])}"]
            for term in model["terms"] if not isinstance(term["ns"], dict)]
    held = [[size_text(p["populated_bytes"]) + (" huge" if p["kind"] == "huge" else "") if p["populated_bytes"] else "-",
             *(count_text(p["facts"][name]) for name in ("mappings", "descriptors", "threads")),
             time_text(p["measured_ns"]), time_text(p["predicted_ns"]), percent_text(p["error"])] for p in model["held_back"]]
    return (table(["fork costs, for", "time", "95 % interval"], rows)
            + f"\n\nR² {model['r_squared']:.4f}; worst error {percent_text(model['worst_fit_error'])} where it was fitted, "
            f"{percent_text(model['worst_held_back_error'])} where it was held back:\n\n"
            + table(["populated", "mappings", "descriptors", "threads", "measured", "predicted", "error"], held))


def ways_block() -> str:
    ways = reference("fork.json")["ways"]
    return table([f"with {size_text(ways['populated_bytes'])} populated", "the call", "child gone after"],
                 [[way["name"], time_text(way["call_ns"]), time_text(way["gone_ns"])] for way in ways["ways"]])


def shared_block() -> str:
    rows = [[size_text(row["populated_bytes"]) if row["populated_bytes"] else "nothing", time_text(row["fork_ns"]),
             time_text(row["shared_ns"]), percent_text(row["saved"]), time_text(row["first_write_ns"])]
            for row in reference("fork.json")["shared_page_tables"]]
    return table(["populated", "fork now", "tables shared", "saved", "then, for each 2 MiB written"], rows)


def phases_block() -> str:
    processes = [process for process in reference("fork.json")["processes"] if "na" not in process.get("phases", {"na": ""})]
    if not processes:
        return "n/a: this reference run has no events of the kernel"
    head = ["phase", "what the kernel does"]
    for process in processes:
        head += [process["name"], "standard deviation", "share"]
    rows = []
    for i, phase in enumerate(processes[0]["phases"]["phases"]):
        row = [phase["name"], phase["does"]]
        for process in processes:
            found = process["phases"]["phases"][i]
            row += [_mean(found), time_text(found["variance_ns2"] ** 0.5), percent_text(found["share"])]
        rows.append(row)
    row = ["the whole call", ""]
    for process in processes:
        whole = process["phases"]["whole"]
        row += [_mean(whole), time_text(whole["variance_ns2"] ** 0.5), ""]
    forks = ", ".join(f"{process['name']}: {count_text(process['phases']['forks'])} forks" for process in processes)
    return f"{table(head, [*rows, row])}\n\n(means with their 95 % intervals; {forks})"


def _mean(of: dict[str, float]) -> str:
    return f"{time_text(of['mean_ns'])} ({time_text(of['low_ns'])} to {time_text(of['high_ns'])})"


BLOCKS = {f"results/reference/fork.json {name}": block for name, block in (
    ("zeroing", zeroing_block), ("sections", sections_block), ("phases", phases_block),
    ("ablation", ablation_block), ("elsewhere", elsewhere_block),
    ("model", model_block), ("ways", ways_block), ("shared", shared_block))}
