"""Blocks about what zeroing costs programs: advice, programs under largecache, and the bill of everyday programs."""
from __future__ import annotations

import json
import re
import statistics
import textwrap

from reference_text import REFERENCE, ROOT, block, or_na, reference, rows_table, table
from zerotax_plots.bill import bounds
from zerotax_plots.units import count_text, counted_text, number_text, percent_text, size_text, time_text

ADVISED = ("numpy", "node", "gcc", "redis", "sqlite3", "git")
FRONTIERS = ("node", "numpy", "git-log", "redis", "pages")   # frontier/NAME.json
WORDS = {"nothing_helps": "nothing helps", "nothing_to_gain": "nothing to gain", "unknown": "n/a"}
SHOWN = ("glibc", "glibc-raised", "adaptive")
PROMISES = {"faults_kept": "faults", "cpu_kept": "CPU", "faster_kept": "slower than default glibc", "memory_kept": "memory"}
WORST = 10
ALLOCATOR, PROGRAM = ("redundant", "needed", "in_free"), ("by_hand", "by_program")
# Frames that only show that memory was allocated, copied or moved.
EVERYWHERE = ("malloc", "calloc", "realloc", "operator new", "std::", "__gnu_cxx::", "memcpy", "memmove", "memset", "_int_", "0x")


# advise: advice on real programs, and their times measured by hand


def by_hand(name: str) -> str:
    """Returns the medians of the runs by hand, unchanged and with the remedy; empty without such runs."""
    file = REFERENCE / "advise" / f"{name}.txt"
    seconds: dict[str, list[float]] = {}
    for how, user, system in re.findall(r"^(.*): ([0-9.]+) user, ([0-9.]+) system$",
                                        file.read_text(encoding="utf-8") if file.exists() else "", re.MULTILINE):
        seconds.setdefault(how, []).append(float(user) + float(system))
    return " → ".join(time_text(statistics.median(each) * 1e9) for each in seconds.values())


def advice_row(name: str) -> list[str]:
    """Returns the row of one program: the recommended remedy and its gain."""
    advice = reference(f"advise/{name}.json")["recommendation"]
    found = re.search(r"CPU time (.*?) -> (.*?) \(([0-9.]+) times", advice["gains"])
    gained = [f"{found[1]} → {found[2]}", found[3]] if found else ["", ""]
    return [name, advice["remedy"] or WORDS[advice["kind"]], *gained, by_hand(name)]


@block("docs/advise.md", "/advise")
def advised_block() -> str:
    """Returns a row for each program."""
    return table(["program", "advice", "CPU time", "ratio", "CPU time by hand"], [advice_row(name) for name in ADVISED])


# advise --frontier: the recommended settings, and how often the search recommends the same setting


def knees_of(name: str) -> list[tuple[int, str]]:
    """Returns each search of a program: its time as a multiple of the program's time, and the recommended setting."""
    lines = (REFERENCE / "frontier" / "knees.txt").read_text(encoding="utf-8")
    return [(int(times), knee) for times, knee in re.findall(rf"^{name}: (\d+) times .*; (.*)$", lines, re.MULTILINE)]


def frontier_row(name: str) -> list[str]:
    """Returns the row of one program: the recommended setting with its ratios, and the number of equal searches."""
    members = reference(f"frontier/{name}.json")["frontier"]["members"]
    [ratios] = [member["ratios"] for member in members if member["knee"]] or [{}]
    knees = [knee for _, knee in knees_of(name)]
    usual = statistics.mode(knees)
    cells = [number_text(ratios[key]["median"]) if ratios else "" for key in ("cpu", "faults", "idle", "memory")]
    return [name, usual if usual.startswith("nothing") else f"`{usual}`", *cells, f"{knees.count(usual)} of {len(knees)}"]


@block("docs/advise.md", "/frontier")
def frontier_block() -> str:
    """Returns a row for each program, and the time of the longest search."""
    longest = max(times for name in FRONTIERS for times, _ in knees_of(name))
    head = ["program", "setting", "CPU", "faults", "idle", "peak", "same in"]
    return (table(head, [frontier_row(name) for name in FRONTIERS]) +
            f"\n\nThe longest search took {longest} times the program's time.")


# largecache: real programs under largecache and under glibc


def installed(run: dict) -> list[dict]:
    """Returns the programs that were installed."""
    return [program for program in run["programs"] if "na" not in program["contenders"]]


def cost(program: dict, name: str) -> str:
    """Returns faults and CPU time, or the status of a program that failed."""
    its = program["contenders"].get(name, {"status": "n/a"})
    if its["status"] != "ok":
        return its["status"]
    return f"{or_na(its['faults'], count_text)}; {or_na(its['cpu_s'], lambda seconds: time_text(seconds * 1e9))}"


def ratios(program: dict) -> list[str]:
    """Returns the ratio of CPU time to the cheaper glibc, with an interval, and the ratio of peak memory to default glibc."""
    its = program["contenders"].get("adaptive", {"status": "n/a"})
    if its["status"] != "ok":
        return [its["status"]] * 2
    cpu = its["cpu_ratio"]
    return ["n/a" if "na" in cpu else f"{number_text(cpu['median'])} ({number_text(cpu['low'])} to {number_text(cpu['high'])})",
            or_na(its["peak_to_default"], number_text)]


def broken(program: dict) -> str:
    """Lists the promises that are not kept; empty if all are kept."""
    promises = program["promises"]
    return "n/a" if "na" in promises else ", ".join(words for key, words in PROMISES.items() if not promises[key])


def stands_out(program: dict) -> bool:
    """Returns whether the program stands out: a promise is broken, or the interval of CPU time is more than 5 % from
    the cheaper glibc's time.
    """
    cpu = program["contenders"].get("adaptive", {}).get("cpu_ratio", {"na": "it failed"})
    return bool(broken(program)) or "na" in cpu or cpu["high"] < 0.95 or cpu["low"] > 1.05


@block("docs/largecache.md", "/programs.json")
def programs_block() -> str:
    """Returns a row for each program that stands out: its costs under glibc and adaptive, and its broken promises."""
    run = reference("programs.json")
    programs = installed(run)
    rows = [[program["name"], program["does"], *(cost(program, name) for name in SHOWN), *ratios(program), broken(program)]
            for program in programs if stands_out(program)]
    others = ", ".join(program["name"] for program in programs if not stands_out(program))
    kept = sum(not broken(program) for program in programs)
    # All programs have the same number of rounds, unless the run was interrupted.
    rounds = " or ".join(str(count) for count in sorted({program["rounds"] for program in programs}))
    head = ["", "does", "glibc", "raised glibc", "`adaptive`", "CPU / cheaper glibc's", "peak / glibc's", "breaks"]
    environment = run["environment"]
    return (f"Page faults; CPU time. Medians of {rounds} rounds, with 95 % intervals.\n\n"
            + rows_table(head, rows, "|:--|:--|" + "--:|" * 5 + ":--|") +
            f"\n\n{kept} of {len(programs)} programs keep all promises. The programs not shown keep all promises, and the "
            f"interval of\ntheir CPU time comes within 5 % of the cheaper glibc's ({others}).\n"
            f"Measured on Linux {environment['kernel']}, {environment['cpu']}, {environment['cpus']} CPUs.")


# bill: the cost of zeroing for each program, and changes for the ten programs with the largest shares


def measured(run: dict) -> list[dict]:
    """Returns the measured programs, largest share first. If only bounds are known, the lower bound decides."""
    return sorted((its for its in run["programs"] if "recorded" in its), key=lambda its: -bounds(its["recorded"])[0])


def share_text(recorded: dict) -> str:
    """Returns the share of CPU time that zeroing takes, or the bounds of this share."""
    least, most = bounds(recorded)
    if most == 1.0 > least:
        return f"at least {percent_text(least)}"
    return percent_text(least) if least == most else f"{percent_text(least).removesuffix(' %')} to {percent_text(most)}"


def cpu_text(recorded: dict) -> str:
    """Returns the CPU time of the recorded processes. Adds the CPU time of unrecorded processes if it is noticeable."""
    others = recorded["not_recorded"]
    more = f", without {time_text(others['cpu_ns'])} not recorded" if others["noticed"] and known(others["cpu_ns"]) else ""
    return time_text(recorded["cpu_ns"]) + more


def known(figure: object) -> bool:
    """Returns whether the value is a number."""
    return isinstance(figure, (int, float))


def part(recorded: dict, causes: tuple[str, ...]) -> str:
    """Returns the share of CPU time of the given causes, or "" below 0.05 %."""
    share = sum(row["at_least_cpu_ns"] for row in recorded["causes"] if row["cause"] in causes) / recorded["cpu_ns"]
    return percent_text(share) if share >= 0.0005 else ""


def interval_text(ratio: dict) -> str:
    """Returns a ratio with its interval: 0.57 (0.55 to 0.59)."""
    is_open = "low" in ratio and ratio["low"] < ratio["high"]
    interval = f" ({number_text(ratio['low'])} to {number_text(ratio['high'])})" if is_open else ""
    return number_text(ratio["median"]) + interval


def adaptive_cells(its: dict) -> list[str]:
    """Returns the cells for CPU time and faults under largecache."""
    if "na" in its:
        return ["fails", ""]
    before, after = its["faults_before"], its["faults_after"]
    faults = "n/a" if "na" in before or "na" in after else f"{count_text(before['median'])} → {count_text(after['median'])}"
    return [interval_text(its["cpu_ratio"]), faults]


def advice_text(its: dict) -> str:
    """Returns the remedy that advise recommends, and its ratio of CPU time."""
    if "na" in its:
        return "" if "less than" in its["na"] else "not asked" if "no time" in its["na"] else "fails"
    return f"{its['remedy']}, {interval_text(its['ratios']['cpu'])}" if its["remedy"] else WORDS[its["kind"]]


@block("docs/bill/README.md", "/bill.json")
def bill_block() -> str:
    """Returns a row for each program, and the list of programs that were not measured."""
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
            f"{time_text(environment['page_bytes'] * price(run))} of CPU time on this machine (median of the programs)."
            f"{checked(run)}{noise(run)}")


def price(run: dict) -> float:
    """Returns the median of the programs' cost of populating base pages, in nanoseconds per byte."""
    known = [its["recorded"]["page_ns_per_byte"] for its in measured(run)]
    return statistics.median(each for each in known if not isinstance(each, dict))


def checked(run: dict) -> str:
    """Returns the cost per avoided fault in programs that fault at most half as often under largecache."""
    prices = []
    for its in measured(run):
        if "na" in its["adaptive"] or "na" in its["adaptive"]["faults_before"] or "na" in its["adaptive"]["faults_after"]:
            continue
        before, after = (its["adaptive"][key]["median"] for key in ("faults_before", "faults_after"))
        if after <= before / 2:
            saved_ns = its["recorded"]["cpu_ns"] * (1 - its["adaptive"]["cpu_ratio"]["median"])
            prices.append(f"{its['name']} {time_text(saved_ns / (before - after))}")
    return f"\nUnder `adaptive`, each avoided fault saves this CPU time: {', '.join(prices)}." if prices else ""


def noise(run: dict) -> str:
    """Returns the range of CPU ratios in programs whose faults largecache does not change."""
    ratios = [its["adaptive"]["cpu_ratio"]["median"] for its in measured(run) if "cpu_ratio" in its["adaptive"]
              and known(before := its["adaptive"]["faults_before"].get("median"))
              and known(after := its["adaptive"]["faults_after"].get("median")) and abs(after / before - 1) < 0.02]
    return (f"\nIf faults differ by less than 2 %, the ratio of CPU time is mostly noise: {number_text(min(ratios))} to "
            f"{number_text(max(ratios))}." if ratios else "")


def summary(run: dict) -> str:
    """Returns how many programs spend at least 2 % and 10 % of their CPU time on zeroing, and how many a remedy helps."""
    shares = [bounds(its["recorded"])[0] for its in measured(run)]
    two, ten = (sum(share >= least for share in shares) for least in (0.02, 0.1))
    helped = [its["name"] for its in measured(run) if its["advice"].get("remedy")]
    names = f" ({', '.join(helped)})" if helped else ""
    return (f"Zeroing takes at least 2 % of the CPU time in {two} of {len(shares)} programs, and at least 10 % in {ten}.\n"
            f"A remedy is proven to help {counted_text(len(helped), 'program')}{names}.")


def site_text(recorded: dict) -> str:
    """Returns the first three meaningful frames of the call site with the most expensive zeroing, and the bytes zeroed
    there.
    """
    site = recorded["site"]
    if site is None:
        return "n/a"
    named = [frame for frame in site["frames"] if not frame.startswith(EVERYWHERE)][:3]
    frames = named if named[:1] == site["frames"][:1] else [site["frames"][0], *named[:2]]
    total = sum(row["bytes"] for row in recorded["causes"] if row["cause"] in ("fresh", "refilled") and known(row["bytes"]))
    parts = [f"{size_text(site['stored_bytes'])} stored"] if site["stored_bytes"] else []
    if site["kernel_zeroed_bytes"]:
        parts.append(f"{size_text(site['kernel_zeroed_bytes'])} of the {size_text(total)} that the kernel zeroed")
    return f"{' ← '.join(f'`{without_arguments(frame)}`' for frame in frames)}: {', '.join(parts)}"


def without_arguments(frame: str) -> str:
    """Returns a frame without the arguments of its function."""
    name, _, file = frame.rpartition(" (")
    return f"{name.split('(')[0].replace('|', '/')} ({file}" if name else frame


@block("docs/bill/README.md", "/bill.json worst")
def worst_block() -> str:
    """Returns a list of the ten programs with the largest zeroing shares, each with its worst call site and the change
    that helps.
    """
    changes = json.loads((ROOT / "docs" / "bill" / "changes.json").read_text(encoding="utf-8"))
    items = []
    for its in measured(reference("bill.json"))[:WORST]:
        recorded = its["recorded"]
        items += textwrap.wrap(f"- **{its['name']}**, {share_text(recorded)}. {site_text(recorded)}. "
                               f"{changes.get(its['name'], recorded['advice'])}", 140, subsequent_indent="  ",
                               break_long_words=False, break_on_hyphens=False)
    return "\n".join(items)
