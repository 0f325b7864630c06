"""docs/largecache.md: what real programs cost under largecache, beside glibc and other allocators."""
from __future__ import annotations

from reference_text import or_na, reference, table
from zerotax_units import count_text, number_text, time_text

PAGE = "docs/largecache.md"
OURS = ("dirty", "adaptive")
PROMISES = {"faults_kept": "faults", "cpu_kept": "CPU", "faster_kept": "slower than default glibc", "memory_kept": "memory"}


def shown(run: dict) -> list[str]:
    """glibc as it is and raised, our own policies, every other allocator."""
    kinds = {its["name"]: its["kind"] for its in run["contenders"]}
    return [name for name, kind in kinds.items() if kind == "glibc"] + [name for name in reversed(OURS) if name in kinds] \
        + [name for name, kind in kinds.items() if kind == "allocator"]


def measured(run: dict) -> list[dict]:
    """The programs that were installed."""
    return [program for program in run["programs"] if "na" not in program["contenders"]]


def figure(program: dict, name: str) -> str:
    """Faults; CPU time. How it ended, where the program failed."""
    its = program["contenders"].get(name, {"status": "n/a"})
    if its["status"] != "ok":
        return its["status"]
    return f"{or_na(its['faults'], count_text)}; {or_na(its['cpu_s'], lambda seconds: time_text(seconds * 1e9))}"


def costs_block() -> str:
    """A row a program, a column a contender."""
    run = reference("programs.json")
    names = shown(run)
    rows = [[program["name"], *(figure(program, name) for name in names)] for program in measured(run)]
    environment = run["environment"]
    machine = f"Linux {environment['kernel']}, {environment['cpu']}, {environment['cpus']} CPUs"
    load = environment["load_average"]
    # Every program has as many, unless the run was interrupted.
    rounds = " or ".join(str(count) for count in sorted({program["rounds"] for program in measured(run)}))
    return (f"Page faults; user + system CPU time, medians of {rounds} round{'' if rounds == '1' else 's'}:\n\n"
            f"{table(['', *names], rows)}\n\n"
            f"Measured on {machine}; load when it began: {'n/a' if 'na' in load else number_text(load[0])}.")


def ratio(figures: dict) -> str:
    """A median and its interval."""
    return "n/a" if "na" in figures else \
        f"{number_text(figures['median'])} ({number_text(figures['low'])} to {number_text(figures['high'])})"


def broken(program: dict) -> str:
    """The promises that are not kept; empty where all are."""
    promises = program["promises"]
    return "n/a" if "na" in promises else ", ".join(words for key, words in PROMISES.items() if not promises[key])


def promises_block() -> str:
    """How adaptive compares with the cheaper glibc, a row a program."""
    run = reference("programs.json")
    rows = []
    for program in measured(run):
        its = program["contenders"].get("adaptive", {"status": "n/a"})
        figures = [its["status"]] * 3 if its["status"] != "ok" else \
            [ratio(its["faults_ratio"]), ratio(its["cpu_ratio"]), ratio(its["peak_to_default"])]
        rows.append([program["name"], program["does"], *figures, broken(program)])
    kept = sum(not row[-1] for row in rows)
    head = ["", "does", "faults / cheaper glibc's", "CPU / cheaper glibc's", "peak memory / default glibc's", "not kept"]
    return (f"`adaptive` beside glibc, with 95 % intervals. All promises are kept in {kept} of {len(rows)} programs:\n\n"
            f"{table(head, rows)}")


BLOCKS = {"results/reference/programs.json costs": costs_block, "results/reference/programs.json promises": promises_block}
