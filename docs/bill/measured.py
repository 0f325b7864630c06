"""Measures one program of the bill in the program's own folder. Runs zerotax commands and reads their JSON documents.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import signal
import statistics
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build")).resolve()
ZEROTAX, LIBRARY = BUILD / "bin" / "zerotax", BUILD / "lib" / "liblargecache.so"
COMMAND = ["sh", "command.sh"]
SECONDS, ADVICE_SECONDS = 120, 900   # seconds: time limit of a command, and of advise
FRAMES = 8      # stored frames of a call site
NOT_ASKED = "there was no time to ask for advice"


class Failure(Exception):
    """The reason why a program cannot be measured."""


def end(child: subprocess.Popen) -> None:
    """Ends all processes in the child's process group."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 60)):
        try:
            os.killpg(child.pid, number)
            child.wait(patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def call(words: list[str], folder: Path, seconds: int = SECONDS) -> None:
    """Runs a command in a program's folder, with only Debian's programs on PATH.

    Raises Failure if the time limit is over. Also raises Failure, with the last line of standard error, if the exit
    status is not 0.
    """
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder), "TMPDIR": str(folder)}
    with open(folder / "errors", "w+", encoding="utf-8", errors="replace") as errors:
        child = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=errors, start_new_session=True)
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"{shlex.join(words[:2])}: the command took more than {seconds} s") from late
        finally:
            end(child)
        errors.seek(0)
        lines = errors.read().strip().splitlines()
    if status != 0:
        raise Failure(f"{shlex.join(words[:2])}: exit status {status}" + (f": {lines[-1][:200]}" if lines else ""))


def asked(command: str, folder: Path, *arguments: str) -> dict:
    """Returns the JSON document that a zerotax command writes."""
    file = folder / f"{command}.json"
    call([str(ZEROTAX), command, "--json", str(file), *arguments], folder,
         ADVICE_SECONDS if command == "advise" else SECONDS)
    return json.loads(file.read_text(encoding="utf-8"))


def known(figure: Any) -> float:
    """Returns a metric, or 0 if it is n/a or missing. Used only to sort sites."""
    return figure if isinstance(figure, (int, float)) else 0


def frame_text(frame: dict) -> str:
    """Returns "function (file)", with the address in place of a missing symbol."""
    name = frame["function"] if isinstance(frame["function"], str) else f"{frame['address']:#x}"
    return f"{name} ({Path(frame['module']).name})" if isinstance(frame["module"], str) else name


def worst_site(document: dict) -> dict | None:
    """Returns the call stack whose zeroing cost the most CPU time: its zero stores, plus the kernel's zeroing at the
    price per byte.
    """
    price = known(document["tax"]["fault_cost"]["base_ns_per_byte"])

    def parts(site: dict) -> dict:
        few = site.get("sampled") or {}
        kernel = known(site.get("kernel_zeroed_bytes")) + known(few.get("kernel_zeroed_bytes"))
        return {"stores_ns": known(site.get("zero_ns")) + known(few.get("zero_cpu_ns")), "kernel_zeroed_bytes": kernel,
                "refilled_bytes": known(site.get("refilled_bytes")),
                "stored_bytes": known(site.get("zeroed_bytes")) + known(few.get("zeroed_bytes"))}

    def cost(site: dict) -> float:
        its = parts(site)
        return its["stores_ns"] + price * its["kernel_zeroed_bytes"]
    sites = [site for site in document["sites"] if cost(site) > 0]
    if not sites:
        return None
    site = max(sites, key=cost)
    return {"kind": site["kind"], "calls": site["calls"], **parts(site), "cpu_ns": round(cost(site)),
            "frames": [frame_text(frame) for frame in site["frames"][:FRAMES]]}


def record(folder: Path, *options: str) -> dict:
    """Records the command once, and returns the JSON document."""
    return asked("record", folder, "--text", str(folder / "record.txt"), "--force", *options, "--", *COMMAND)


def recorded(document: dict) -> dict:
    """Returns the part of a recording's document that bill.json contains."""
    tax, kernel = document["tax"], document["totals"]["kernel"]
    kept = ("cpu_ns", "recorder_cpu_ns", "zeroing_cpu_ns", "share_of_cpu", "zeroing_at_least_cpu_ns", "zeroing_at_most_cpu_ns",
            "capped", "not_recorded", "advice")
    causes = [{key: row[key] for key in ("cause", "bytes", "cpu_ns", "at_least_cpu_ns", "at_most_cpu_ns") if key in row}
              for row in tax["rows"] if row["bytes"] != 0 or row["cpu_ns"] != 0]
    return {"wall_ns": document["run"]["wall_ns"], **{key: tax[key] for key in kept}, "causes": causes,
            "faults": kernel["minor_faults"], "page_ns_per_byte": tax["fault_cost"]["base_ns_per_byte"],
            "from_outside": "outside" in document, "processes": len(document["processes"]), "site": worst_site(document)}


def spread(values: list[float]) -> dict:
    """Returns the median, the lowest and the highest value."""
    return {"median": statistics.median_low(values), "low": min(values), "high": max(values)}


def pairs(folder: Path, rounds: int, say: Callable[[str], None]) -> dict:
    """Records the program in pairs of runs: alone, then under largecache. Returns the median recording and the ratios
    of the pairs.
    """
    say("record")
    plain, under, why = [record(folder)], [], ""
    for i in range(rounds):
        if i > 0:
            plain.append(record(folder))
        try:
            say(f"record under largecache, {i + 1} of {rounds}")
            under.append(record(folder, "--allocator", f"largecache={LIBRARY}", "--env", "largecache:LARGECACHE_POLICY=adaptive"))
        except Failure as problem:
            why = str(problem)
            break
    middle = sorted(plain, key=lambda each: each["tax"]["cpu_ns"])[(len(plain) - 1) // 2]
    if not why and "outside" in middle:
        why = "it takes no library"
    before, after = ([its["tax"]["cpu_ns"] for its in documents] for documents in (plain, under))
    faults = [[its["totals"]["kernel"]["minor_faults"] for its in documents] for documents in (plain, under)]
    compared = {"cpu_ratio": spread([new / old for old, new in zip(before, after)]), "pairs": len(after),
                **{key: spread(its) if all(isinstance(each, int) for each in its) else {"na": "not counted in every run"}
                   for key, its in zip(("faults_before", "faults_after"), faults)}} if not why else {"na": why}
    return {"recorded": recorded(middle), "adaptive": compared, "environment": middle["environment"],
            "version": middle["zerotax_version"]}


def advice(folder: Path) -> dict:
    """Returns the recommendation of advise, with the ratios that confirmed it."""
    document = asked("advise", folder, "--rounds", "12", "--force", "--", *COMMAND)
    its = document["recommendation"]
    best = next((each for each in document["remedies"] if each["name"] == its["remedy"]), None)
    return {"kind": its["kind"], "remedy": its["remedy"], "sentence": its["sentence"], "env": best and best["env"],
            "preload": best and best["preload"] and Path(best["preload"]).name,
            "ratios": best and {key: best["ratios"][key] for key in ("cpu", "memory", "faults")},
            "tried": len(document["remedies"]), "runs": len(document["runs"])}


def versions(packages: list[str]) -> dict[str, str]:
    """Returns the version of each installed package."""
    asked_for = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package} ${Version}\n", *packages],
                               capture_output=True, text=True, check=False).stdout
    return {line.split()[1]: line.split()[2] for line in asked_for.splitlines() if line.startswith("ii")}


@contextlib.contextmanager
def prepared(program: dict, folder: Path) -> Iterator[None]:
    """Makes a folder with the program's input, and runs the program once, so that its files are in memory.

    Removes the folder at the end.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        for name in ("input", "command"):
            (folder / f"{name}.sh").write_text("set -eu\n" + "\n".join(program[name]) + "\n", encoding="utf-8")
        call(["sh", "input.sh"], folder)
        call(COMMAND, folder)
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measured(program: dict, folder: Path, rounds: int, say: Callable[[str], None]) -> dict:
    """Returns all results of one program except the advice. Before each step, calls `say` with the step's name."""
    installed = versions(program["packages"])
    result = {key: program[key] for key in ("name", "group", "does")} | {
        "command": "\n".join(program["command"]), "packages": installed, "of": digest(program, rounds)}
    if missing := [package for package in program["packages"] if package not in installed]:
        return result | {"na": f"{', '.join(missing)} not installed: apt-get install {' '.join(missing)}"}
    say("its input")
    try:
        with prepared(program, folder):
            return result | pairs(folder, rounds, say) | {"advice": {"na": NOT_ASKED}}
    except (Failure, LookupError, ValueError, OSError) as problem:
        return result | {"na": str(problem) if isinstance(problem, Failure) else f"{type(problem).__name__}: {problem}"}


def advised(program: dict, folder: Path) -> dict:
    """Returns the advice for a program, or the reason why advise failed."""
    try:
        with prepared(program, folder):
            return advice(folder)
    except (Failure, LookupError, ValueError, OSError) as problem:
        return {"na": str(problem) if isinstance(problem, Failure) else f"{type(problem).__name__}: {problem}"}


def digest(program: dict, rounds: int) -> str:
    """Returns a hash of everything that a kept result depends on."""
    what = [program["input"], program["command"], rounds]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
