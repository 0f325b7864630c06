#!/usr/bin/python3
"""Measures the cost of zeroing in everyday programs of Debian (programs.json). Records each program alone and under largecache's
policy `adaptive`, and asks for advice if zeroing takes a large share of its CPU time. Writes DIR/bill.json.

The same command continues an interrupted run. Finished programs are kept in DIR/programs, and are not measured again.
Exit status: 0; 1 if a program failed; 2 for unusable arguments; 3 if a needed tool is missing; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

from measured import LIBRARY, NOT_ASKED, ROOT, ZEROTAX, Failure, advised, digest, measured, versions

sys.path.insert(0, str(ROOT / "plots"))

from zerotax_plots.bill import SCHEMA, bounds  # noqa: E402
from zerotax_plots.files import ResultsError  # noqa: E402
from zerotax_plots.output import check_replaceable, is_document, named_path, write, write_document  # noqa: E402
from zerotax_plots.units import percent_text, plain_text, time_text  # noqa: E402

PROGRAMS = Path(__file__).with_name("programs.json")
TOO_LITTLE = "zeroing takes less than"
FIRST_GUESS_S = 50   # seconds: assumed duration of each program until one is finished


def interrupted(number: int, _: object) -> None:
    """Ends the run as Ctrl-C does, with the status of the signal."""
    raise SystemExit(128 + number)


def is_of_program(data: bytes) -> bool:
    """Returns whether an earlier run wrote this file as the result of a program."""
    try:
        return "of" in json.loads(data)
    except (ValueError, RecursionError, TypeError):
        return False


def keep(out: Path, program: dict, result: dict) -> None:
    """Stores the result of a program, so that a later run can continue this one."""
    write(out / "programs" / f"{program['name']}.json", (json.dumps(result, indent=1) + "\n").encode(), is_of_program)


def check_folder(out: Path) -> None:
    """Raises ResultsError if the folder contains a file that no earlier run of bill.py wrote."""
    if out.exists() and not out.is_dir():
        raise ResultsError(f"{out}: is not a folder; give a folder that you can write with --out")
    check_replaceable(out / "bill.json", is_document(SCHEMA))
    for each in out.glob("programs/*.json"):
        check_replaceable(each, is_of_program)
    for each in out.glob("*"):
        if each.name not in ("programs", "work") and not each.name.startswith(("bill.json", "slurm-")):
            raise ResultsError(f"{out}: is not the folder of a bill, because {each.name} is in it; give another with --out")


def stored(out: Path, program: dict, given: argparse.Namespace) -> dict | None:
    """Returns the stored result of a program if its definition is unchanged, otherwise None."""
    try:
        its = json.loads((out / "programs" / f"{program['name']}.json").read_text(encoding="utf-8"))
        return its | {key: program[key] for key in ("group", "does")} if its["of"] == digest(program, given.rounds) else None
    except (OSError, ValueError, LookupError):
        return None


def collect(out: Path, given: argparse.Namespace) -> list[dict]:
    """Writes all stored results to bill.json, in the order of the definitions. Returns the programs in bill.json."""
    programs = [its for program in given.programs if (its := stored(out, program, given))]
    machines = {}   # one entry for each kernel, CPU model, CPU count and huge-page setting
    version = {"na": "nothing was measured"}
    for its in programs:
        del its["of"]
        if machine := its.pop("environment", None):
            machines.setdefault(tuple(machine[key] for key in ("kernel", "cpu", "cpus", "thp")), machine)
            version = its.pop("version")
    first, *others = machines.values() or [{"na": "nothing was measured"}]
    if programs:
        write_document(out / "bill.json", {
            "schema": SCHEMA, "zerotax_version": version, "started": min(its["started"] for its in programs),
            "environment": first, "other_environments": others, "advise_from_percent": given.advise_from,
            "pairs": given.rounds, "defined": len(given.programs), "programs": programs})
    return programs


def shown(number: int, count: int, name: str, step: str, left_s: float) -> None:
    """Prints a line of progress."""
    left = max(1, round(left_s / 60))
    print(f"bill: {number + 1} of {count}: {name}: {step} (about {left} min left)", file=sys.stderr, flush=True)


def run_here(todo: list[dict], chosen: list[dict], out: Path, given: argparse.Namespace) -> None:
    """Measures the programs one by one. Then asks for advice on them, the largest zeroing share first, until
    --advise-minutes have passed.
    """
    began = time.monotonic()
    for number, program in enumerate(todo):
        def say(step: str, number: int = number, program: dict = program) -> None:
            each = (time.monotonic() - began) / number if number else FIRST_GUESS_S
            shown(number, len(todo), program["name"], step, each * (len(todo) - number) + 60 * given.advise_minutes)
        started = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        result = measured(program, out / "work" / program["name"], given.rounds, say) | {"started": started}
        if "na" in result:
            say(f"n/a: {result['na']}")
        keep(out, program, result)
    found = [(its, program) for program in chosen if "recorded" in (its := stored(out, program, given) or {})]
    asked = [(its, program) for its, program in found if its["advice"].get("na", "").startswith((NOT_ASKED, TOO_LITTLE))]
    # Sorted by the upper bound of the zeroing share. An unknown upper bound counts as 100 %.
    asked.sort(key=lambda pair: -bounds(pair[0]["recorded"])[1])
    began = time.monotonic()
    for number, (its, program) in enumerate(asked):
        share = bounds(its["recorded"])[1]
        left_s = 60 * given.advise_minutes + began - time.monotonic()
        if 100 * share < given.advise_from:
            its["advice"] = {"na": f"{TOO_LITTLE} {plain_text(given.advise_from)} % of the CPU time"}
        elif left_s <= 0:
            its["advice"] = {"na": f"{NOT_ASKED} (--advise-minutes {plain_text(given.advise_minutes)})"}
        else:
            shown(number, len(asked), program["name"],
                  f"advise, because zeroing takes {percent_text(share)} of {time_text(its['recorded']['cpu_ns'])}", left_s)
            its["advice"] = advised(program, out / "work" / program["name"])
        keep(out, program, its)


def run_on_slurm(todo: list[dict], _: list[dict], out: Path, given: argparse.Namespace) -> None:
    """Runs this script as a job array, and waits for the job's end. Each program is a task with a whole node. Raises
    Failure if Slurm refuses the job.
    """
    this = shlex.join([sys.executable, str(Path(__file__).resolve()), "--out", str(out),
                       "--programs", str(given.file), "--rounds", str(given.rounds),
                       "--advise-from", str(given.advise_from), "--advise-minutes", str(given.advise_minutes), "--only"])
    names = shlex.join([program["name"] for program in todo])
    script = f'#!/bin/sh\nset -- {names}\nshift "$SLURM_ARRAY_TASK_ID"\nexec {this} "$1"\n'
    submit = ["sbatch", "--parsable", "--wait", f"--array=0-{len(todo) - 1}", "--exclusive", "--job-name=zerotax-bill",
              f"--output={out}/slurm-%a.log", *given.sbatch]
    with subprocess.Popen(submit, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        job.stdin.write(script)
        job.stdin.close()
        if not (name := job.stdout.readline().strip().split(";")[0]):
            raise Failure(f"sbatch: exit status {job.wait()}")
        print(f"bill: submitted job {name}, {len(todo)} tasks; waiting", file=sys.stderr, flush=True)
        try:
            job.wait()
        except BaseException:
            subprocess.run(["scancel", name], check=False)
            job.kill()
            raise


def list_programs(programs: list[dict]) -> None:
    """Prints a line for each program: name, group, task, and the missing packages."""
    installed = versions([package for each in programs for package in each["packages"]])
    for each in programs:
        missing = [package for package in each["packages"] if package not in installed]
        print(f"{each['name']:12} {each['group']:16} {each['does']}"
              + (f" [apt-get install {' '.join(missing)}]" if missing else ""))


def definitions(parser: argparse.ArgumentParser, file: Path) -> list[dict]:
    """Returns the programs of a file. The shared prelude precedes each program's own input."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        programs = [{key: each[key] for key in ("name", "group", "does", "packages", "command")}
                    | {"input": [*found["prelude"], *each["input"]]} for each in found["programs"]]
        # A folder with the program's name is made and later removed, so the name must not contain a slash.
        if wrong := [each["name"] for each in programs if not re.fullmatch(r"\w[\w.+-]*", each["name"])]:
            parser.error(f"{file}: '{wrong[0]}' is not a program's name (letters, digits and . + - _)")
        return programs
    except (OSError, ValueError, LookupError, TypeError) as problem:
        return parser.error(f"{file}: does not have the form of docs/bill/programs.json ({type(problem).__name__}: {problem})")


def arguments() -> argparse.Namespace:
    """Returns the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--out", type=named_path, metavar="DIR", help="folder for bill.json and the results of finished programs")
    parser.add_argument("--only", action="append", metavar="NAME", help="measure only this program (repeatable)")
    parser.add_argument("--list", action="store_true", help="list the programs and their missing packages")
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="pairs of recordings without and with largecache, 1 to 100 (default: 3)")
    parser.add_argument("--advise-from", type=float, default=2, metavar="PERCENT",
                        help="ask for advice if zeroing takes at least this share of the CPU time (default: 2)")
    parser.add_argument("--advise-minutes", type=float, default=15, metavar="N",
                        help="start no further advice after this many minutes (default: 15)")
    parser.add_argument("--on", choices=["local", "slurm"], default="local",
                        help="slurm: run a job array with one task per program")
    parser.add_argument("--sbatch", action="append", default=[], metavar="OPTION", help="pass this option to sbatch (repeatable)")
    parser.add_argument("--programs", type=Path, default=PROGRAMS, metavar="FILE",
                        help="measure the programs in this file, which has the form of programs.json")
    given = parser.parse_args()
    given.file, given.programs = given.programs.resolve(), definitions(parser, given.programs)
    names = [program["name"] for program in given.programs]
    if unknown := [name for name in given.only or [] if name not in names]:
        parser.error(f"unknown program '{unknown[0]}' (choose: {', '.join(names)})")
    if not given.list and given.out is None:
        parser.error("--out DIR is missing")
    if not 1 <= given.rounds <= 100:
        parser.error(f"invalid --rounds {given.rounds} (choose: 1 to 100)")
    return given


def main() -> int:
    """Measures the programs without a result. Returns the exit status."""
    given = arguments()
    if given.list:
        list_programs(given.programs)
        return 0
    needs = {str(ZEROTAX): "./run build", str(LIBRARY): "./run build", "dpkg-query": "Debian",
             **({"sbatch": "apt-get install slurm-client"} if given.on == "slurm" else {})}
    if missing := [need for need in needs if shutil.which(need) is None and not Path(need).exists()]:
        print(f"bill: {missing[0]} is missing ({needs[missing[0]]})", file=sys.stderr)
        return 3
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    out = given.out.resolve()
    chosen = [program for program in given.programs if program["name"] in (given.only or [program["name"]])]
    found = {program["name"]: stored(out, program, given) or {"na": "it was not measured yet"} for program in chosen}
    todo = [program for program in chosen if "na" in found[program["name"]]]
    if given.on == "slurm":   # without slurm, run_here finds the programs that still need advice
        todo += [program for program in chosen if found[program["name"]].get("advice", {}).get("na", "").startswith(NOT_ASKED)]
    try:
        check_folder(out)
        (out / "programs").mkdir(parents=True, exist_ok=True)
        if todo or given.on == "local":
            (run_on_slurm if given.on == "slurm" else run_here)(todo, chosen, out, given)
    except ResultsError as problem:
        print(f"bill: {problem}", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"bill: {problem}; give a folder that you can write with --out", file=sys.stderr)
        return 2
    except Failure as problem:
        print(f"bill: {problem}", file=sys.stderr)
        return 3
    except SystemExit:
        print(f"bill: interrupted; resume with: {shlex.join([sys.executable, *sys.argv])}", file=sys.stderr)
        raise
    finally:
        programs = collect(out, given) if (out / "programs").is_dir() else []
    failed = [its["name"] for its in programs if "na" in its and "apt-get install" not in its["na"]]
    print(f"bill: {out / 'bill.json'}: {len(programs)} of {len(given.programs)} programs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
