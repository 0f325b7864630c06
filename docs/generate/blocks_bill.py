"""docs/bill/README.md: what zeroing costs each program, and what the ten worst should change."""
from __future__ import annotations

import json
import statistics
import textwrap

from reference_text import ROOT, reference, rows_table
from zerotax_plots.shares import bounds
from zerotax_plots.units import count_text, counted_text, number_text, percent_text, size_text, time_text

PAGE = "docs/bill/README.md"
WORST = 10
KERNEL, ALLOCATOR, PROGRAM = ("fresh", "refilled", "returning"), ("redundant", "needed", "in_free"), ("by_hand", "by_program")
WORDS = {"nothing_helps": "nothing helps", "nothing_to_gain": "nothing to gain", "unknown": "n/a"}
# Frames that say only that memory was allocated, copied or moved.
EVERYWHERE = ("malloc", "calloc", "realloc", "operator new", "std::", "__gnu_cxx::", "memcpy", "memmove", "memset", "_int_", "0x")


def measured(run: dict) -> list[dict]:
    """The programs that were measured, the largest share first; where only bounds are known, by the lower one."""
    return sorted((its for its in run["programs"] if "recorded" in its), key=lambda its: -bounds(its["recorded"])[0])


def share_text(recorded: dict) -> str:
    """The share, or its bounds."""
    least, most = bounds(recorded)
    if most == 1.0 > least:
        return f"at least {percent_text(least)}"
    return percent_text(least) if least == most else f"{100 * least:.1f} to {percent_text(most)}"


def cpu_text(recorded: dict) -> str:
    """CPU time of the recorded processes, and that of others where it matters."""
    others = recorded["not_recorded"]
    more = f", without {time_text(others['cpu_ns'])} not recorded" if others["noticed"] and known(others["cpu_ns"]) else ""
    return time_text(recorded["cpu_ns"]) + more


def known(figure: object) -> bool:
    """Is it a number?"""
    return isinstance(figure, (int, float))


def part(recorded: dict, causes: tuple[str, ...]) -> str:
    """The share of some causes; empty below 0.05 %."""
    share = sum(row["at_least_cpu_ns"] for row in recorded["causes"] if row["cause"] in causes) / recorded["cpu_ns"]
    return percent_text(share) if share >= 0.0005 else ""


def ratio_text(ratio: dict) -> str:
    """0.57 (0.55 to 0.59)."""
    is_open = "low" in ratio and ratio["low"] < ratio["high"]
    interval = f" ({number_text(ratio['low'])} to {number_text(ratio['high'])})" if is_open else ""
    return number_text(ratio["median"]) + interval


def adaptive_cells(its: dict) -> list[str]:
    """CPU time and faults under largecache."""
    if "na" in its:
        return ["fails", ""]
    before, after = its["faults_before"], its["faults_after"]
    faults = "n/a" if "na" in before or "na" in after else f"{count_text(before['median'])} → {count_text(after['median'])}"
    return [ratio_text(its["cpu_ratio"]), faults]


def advice_text(its: dict) -> str:
    """What advise recommends and what that saves."""
    if "na" in its:
        return "" if "less than" in its["na"] else "not asked" if "no time" in its["na"] else "fails"
    return f"{its['remedy']}, {ratio_text(its['ratios']['cpu'])}" if its["remedy"] else WORDS[its["kind"]]


def bill_block() -> str:
    """A row for each program, and who is missing."""
    run = reference("bill.json")
    rows = [[its["name"], its["does"], cpu_text(its["recorded"]), share_text(its["recorded"]),
             *(part(its["recorded"], causes) for causes in (("fresh",), ("refilled", "returning"), ALLOCATOR, PROGRAM)),
             *adaptive_cells(its["adaptive"]), advice_text(its["advice"])] for its in measured(run)]
    head = ["program", "does", "CPU time", "zeroing", "fresh", "refilled, returned", "allocator", "program",
            "CPU under `adaptive`", "faults", "advice"]
    environment = run["environment"]
    defined = json.loads((ROOT / "docs" / "bill" / "programs.json").read_text(encoding="utf-8"))["programs"]
    told = {its["name"]: its.get("na", "") for its in run["programs"]}
    missing = [f"{its['name']} ({told.get(its['name'], 'no time')})" for its in defined if told.get(its["name"], "no time")]
    return (rows_table(head, rows, "|:--|:--|" + "--:|" * 8 + ":--|") + "\n\n" + summary(run) +
            (f"\nNot measured: {'; '.join(missing)}.\n" if missing else "\n") +
            f"Measured {run['started'][:10]} on Linux {environment['kernel']}, {environment['cpu']}, "
            f"{environment['cpus']} CPUs, {size_text(environment['memory_bytes'])}.\n"
            f"Populating a page of {size_text(environment['page_bytes'])} takes "
            f"{time_text(environment['page_bytes'] * price(run))} of CPU time there (median of the programs)."
            f"{checked(run)}{noise(run)}")


def price(run: dict) -> float:
    """Nanoseconds a byte that populating base pages took, in the median program."""
    known = [its["recorded"]["page_ns_per_byte"] for its in measured(run)]
    return statistics.median(each for each in known if not isinstance(each, dict))


def checked(run: dict) -> str:
    """The price as it follows from the programs that fault at most half as often under largecache."""
    prices = []
    for its in measured(run):
        if "na" in its["adaptive"] or "na" in its["adaptive"]["faults_before"] or "na" in its["adaptive"]["faults_after"]:
            continue
        before, after = (its["adaptive"][key]["median"] for key in ("faults_before", "faults_after"))
        if after <= before / 2:
            saved_ns = its["recorded"]["cpu_ns"] * (1 - its["adaptive"]["cpu_ratio"]["median"])
            prices.append(f"{its['name']} {time_text(saved_ns / (before - after))}")
    return f"\nUnder `adaptive` a fault that is avoided saves as much: {', '.join(prices)}." if prices else ""


def noise(run: dict) -> str:
    """How far apart the ratios are where largecache changes nothing."""
    ratios = [its["adaptive"]["cpu_ratio"]["median"] for its in measured(run) if "cpu_ratio" in its["adaptive"]
              and known(before := its["adaptive"]["faults_before"].get("median"))
              and known(after := its["adaptive"]["faults_after"].get("median")) and abs(after / before - 1) < 0.02]
    return (f"\nWhere faults differ by less than 2 %, the ratio of CPU time is mostly noise: {number_text(min(ratios))} to "
            f"{number_text(max(ratios))}." if ratios else "")


def summary(run: dict) -> str:
    """How many programs pay how much."""
    shares = [bounds(its["recorded"])[0] for its in measured(run)]
    two, ten = (sum(share >= least for share in shares) for least in (0.02, 0.1))
    helped = [its["name"] for its in measured(run) if its["advice"].get("remedy")]
    names = f" ({', '.join(helped)})" if helped else ""
    return (f"Zeroing takes at least 2 % of the CPU time in {two} of {len(shares)} programs, and at least 10 % in {ten}.\n"
            f"A remedy is proven to help {counted_text(len(helped), 'program')}{names}.")


def site_text(recorded: dict) -> str:
    """The first three frames of the worst site that say something, and what it costs."""
    site = recorded["site"]
    if site is None:
        return "n/a"
    named = [frame for frame in site["frames"] if not frame.startswith(EVERYWHERE)][:3]
    frames = named if named[:1] == site["frames"][:1] else [site["frames"][0], *named[:2]]
    total = sum(row["bytes"] for row in recorded["causes"] if row["cause"] in ("fresh", "refilled") and known(row["bytes"]))
    parts = [f"{size_text(site['stored_bytes'])} stored"] if site["stored_bytes"] else []
    if site["kernel_zeroed_bytes"]:
        parts.append(f"{size_text(site['kernel_zeroed_bytes'])} of the {size_text(total)} that the kernel zeroed")
    return f"{' ← '.join(f'`{short(frame)}`' for frame in frames)}: {', '.join(parts)}"


def short(frame: str) -> str:
    """A frame without the arguments of its function."""
    name, _, file = frame.rpartition(" (")
    return f"{name.split('(')[0].replace('|', '/')} ({file}" if name else frame


def worst_block() -> str:
    """The ten with the largest shares: where, and what should change."""
    changes = json.loads((ROOT / "docs" / "bill" / "changes.json").read_text(encoding="utf-8"))
    items = []
    for its in measured(reference("bill.json"))[:WORST]:
        recorded = its["recorded"]
        items += textwrap.wrap(f"- **{its['name']}**, {share_text(recorded)}. {site_text(recorded)}. "
                               f"{changes.get(its['name'], recorded['advice'])}", 140, subsequent_indent="  ",
                               break_long_words=False, break_on_hyphens=False)
    return "\n".join(items)


BLOCKS = {"results/reference/bill.json": bill_block, "results/reference/bill.json worst": worst_block}
