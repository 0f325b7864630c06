"""docs/fork.md: fork by section, by model, its alternatives, and what it zeroes."""
from __future__ import annotations

from reference_text import machine, reference, table
from zerotax_plots.units import count_text, number_text, percent_text, size_text, time_text

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
    facts = "; ".join(f"*{p['name']}* has {count_text(p['facts']['pages'])} pages, {p['facts']['mappings']} mappings and "
                      f"{p['facts']['descriptors']} descriptors" for p in processes)
    notes = "".join(f"\n\n{note}" for note in fork["notes"])
    return f"{table(head, rows)}\n\n({facts}){notes}\n\n{machine(fork, '../')}"


ZEROING = ("nothing", "64 MiB", "1 GiB", "8 GiB", "1 GiB in huge pages")


def zeroing_block() -> str:
    fork = reference("fork.json")
    rows = []
    page = fork["environment"]["page_bytes"]
    for place in fork["model"]["fit"]:
        pages = place["kernel_pages"]
        populated = size_text(place["populated_bytes"]) if place["populated_bytes"] else "nothing"
        populated += " in huge pages" if place["kind"] == "huge" else ""
        if place["sweep"] in ("base", "pages", "huge") and populated in ZEROING and "na" not in pages:
            rows.append([populated, count_text(pages["parent_table_bytes"] // page), number_text(pages["pages"]),
                         number_text(pages["zeroed_pages"])])
    spent = " and ".join(f"{p['samples'][0]['clearing']['text']} in the process *{p['name']}* "
                         f"({percent_text(p['samples'][0]['clearing']['share'])} of the fork)" for p in fork["processes"])
    head = ["populated", "the parent's page tables (pages)", "pages that a fork takes", "of these cleared"]
    return f"{table(head, rows)}\n\nClearing these pages took {spent}."


def model_block() -> str:
    model = reference("fork.json")["model"]
    rows = [[term["name"], time_text(term["ns"]), f"{time_text(term['low_ns'])} to {time_text(term['high_ns'])}"]
            for term in model["terms"] if not isinstance(term["ns"], dict)]
    held = [[size_text(p["populated_bytes"]) + (" huge" if p["kind"] == "huge" else "") if p["populated_bytes"] else "-",
             *(count_text(p["facts"][name]) for name in ("mappings", "descriptors", "threads")),
             time_text(p["measured_ns"]), time_text(p["predicted_ns"]), percent_text(p["error"])] for p in model["held_back"]]
    return (table(["fork costs, for", "time", "95 % interval"], rows)
            + f"\n\nThe fit has an R² of {model['r_squared']:.4f}. Its worst error is "
            f"{percent_text(model['worst_fit_error'])} for the processes that it used, and "
            f"{percent_text(model['worst_held_back_error'])} for these, which it did not use:\n\n"
            + table(["populated", "mappings", "descriptors", "threads", "measured", "predicted", "error"], held))


def ways_block() -> str:
    ways = reference("fork.json")["ways"]
    return table([f"with {size_text(ways['populated_bytes'])} populated", "the call", "child gone after"],
                 [[way["name"], time_text(way["call_ns"]), time_text(way["gone_ns"])] for way in ways["ways"]])


BLOCKS = {f"results/reference/fork.json {name}": block for name, block in (
    ("sections", sections_block), ("model", model_block), ("ways", ways_block), ("zeroing", zeroing_block))}
