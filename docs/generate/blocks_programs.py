"""docs/largecache.md: the real programs that are cheaper or dearer under largecache than under glibc."""
from __future__ import annotations

from reference_text import or_na, reference, rows_table
from zerotax_plots.units import count_text, number_text, time_text

PAGE = "docs/largecache.md"
SHOWN = ("glibc", "glibc-raised", "adaptive")
PROMISES = {"faults_kept": "faults", "cpu_kept": "CPU", "faster_kept": "slower than default glibc", "memory_kept": "memory"}


def measured(run: dict) -> list[dict]:
    """The programs that were installed."""
    return [program for program in run["programs"] if "na" not in program["contenders"]]


def cost(program: dict, name: str) -> str:
    """Faults; CPU time. How it ended, where the program failed."""
    its = program["contenders"].get(name, {"status": "n/a"})
    if its["status"] != "ok":
        return its["status"]
    return f"{or_na(its['faults'], count_text)}; {or_na(its['cpu_s'], lambda seconds: time_text(seconds * 1e9))}"


def ratios(program: dict) -> list[str]:
    """CPU time to the cheaper glibc's, with its interval; peak memory to default glibc's."""
    its = program["contenders"].get("adaptive", {"status": "n/a"})
    if its["status"] != "ok":
        return [its["status"]] * 2
    cpu = its["cpu_ratio"]
    return ["n/a" if "na" in cpu else f"{number_text(cpu['median'])} ({number_text(cpu['low'])} to {number_text(cpu['high'])})",
            or_na(its["peak_to_default"], number_text)]


def broken(program: dict) -> str:
    """The promises that are not kept; empty where all are."""
    promises = program["promises"]
    return "n/a" if "na" in promises else ", ".join(words for key, words in PROMISES.items() if not promises[key])


def stands_out(program: dict) -> bool:
    """Is a promise broken, or the whole interval of its CPU time more than 5 % from the cheaper glibc's?"""
    cpu = program["contenders"].get("adaptive", {}).get("cpu_ratio", {"na": "it failed"})
    return bool(broken(program)) or "na" in cpu or cpu["high"] < 0.95 or cpu["low"] > 1.05


def programs_block() -> str:
    """A row for each program that stands out: costs under glibc and adaptive, and the promises that are broken."""
    run = reference("programs.json")
    programs = measured(run)
    rows = [[program["name"], program["does"], *(cost(program, name) for name in SHOWN), *ratios(program), broken(program)]
            for program in programs if stands_out(program)]
    others = ", ".join(program["name"] for program in programs if not stands_out(program))
    kept = sum(not broken(program) for program in programs)
    # Every program has as many, unless the run was interrupted.
    rounds = " or ".join(str(count) for count in sorted({program["rounds"] for program in programs}))
    head = ["", "does", "glibc", "raised glibc", "`adaptive`", "CPU / cheaper glibc's", "peak / glibc's", "breaks"]
    environment = run["environment"]
    return (f"Page faults; CPU time. Medians of {rounds} rounds, with 95 % intervals.\n\n"
            + rows_table(head, rows, "|:--|:--|" + "--:|" * 5 + ":--|") +
            f"\n\nAll promises are kept in {kept} of {len(programs)} programs. Those not shown keep them all, and the interval "
            f"of\ntheir CPU time comes within 5 % of the cheaper glibc's ({others}).\n"
            f"Measured on Linux {environment['kernel']}, {environment['cpu']}, {environment['cpus']} CPUs.")


BLOCKS = {"results/reference/programs.json": programs_block}
