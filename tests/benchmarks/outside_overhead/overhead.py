#!/usr/bin/python3
"""Measures how much throughput a process loses while it is watched from outside.

The watchers are `zerotax top` and `zerotax record --pid`. For comparison, perf record records each page fault
with its stack, and `perf trace -F all` lists the page faults.

usage: overhead.py [--rounds N] [--seconds S] [--workload NAME]...

The workloads are a server under a steady load (redis, a Go and a Python web server), and the worst case: a loop that
refills 8 MiB a round. A round has a window under each watcher and one without a watcher, in an order that rotates. Each
ratio compares a watcher's window with the window without a watcher in the same round. heaptrack and memray are left out,
because the code that they inject stays in the process.

The output is the median ratios of throughput and of the watched process's CPU time per operation, with bootstrap
intervals of 95 %. The watcher's own CPU time is printed as well. If all CPUs are busy, this CPU time also lowers the
throughput.
"""
from __future__ import annotations

import argparse
import contextlib
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

HERE = pathlib.Path(__file__).resolve().parent
ZEROTAX = str(HERE.parents[1] / "build" / "bin" / "zerotax")
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
Watched = tuple[int, Callable[[], int]]  # PID, and a function that returns the current number of operations


def counter(work: pathlib.Path) -> tuple[str, Callable[[], int]]:
    """Returns a file in which a program stores its count of operations, and a function that reads the count."""
    path = work / "counter"
    path.write_bytes(bytes(4096))
    return str(path), lambda: struct.unpack("Q", path.read_bytes()[:8])[0]


@contextlib.contextmanager
def running(*words: str, **options) -> Iterator[subprocess.Popen]:
    """Starts a program, which is killed at the end."""
    with subprocess.Popen(words, **options) as program:
        try:
            yield program
        finally:
            program.kill()


@contextlib.contextmanager
def refill(work: pathlib.Path) -> Iterator[Watched]:
    """Starts the refill loop, whose operations are rounds."""
    subprocess.run(["c++", "-O2", "-g", "-o", work / "refill", HERE / "refill.cc"], check=True)
    path, count = counter(work)
    with running(str(work / "refill"), path) as program:
        yield program.pid, count


@contextlib.contextmanager
def web(work: pathlib.Path, *server: str) -> Iterator[Watched]:
    """Starts a web server and its clients. Operations are requests."""
    subprocess.run(["go", "build", "-o", work / "web", HERE / "web.go"], check=True)
    path, count = counter(work)
    with running(*(word.replace("WORK", str(work)) for word in server), path, stdout=subprocess.PIPE, text=True) as program:
        with running(str(work / "web"), "load", program.stdout.readline().strip(), **SILENT):
            yield program.pid, count


@contextlib.contextmanager
def redis(work: pathlib.Path) -> Iterator[Watched]:
    """Starts redis-server under redis-benchmark. Operations are commands."""
    socket = str(work / "redis.sock")

    def count() -> int:
        text = subprocess.run(["redis-cli", "-s", socket, "info", "stats"], capture_output=True, text=True, check=True).stdout
        return int(text.split("total_commands_processed:")[1].split()[0])

    with running("redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", str(work), **SILENT) as program:
        while subprocess.run(["redis-cli", "-s", socket, "ping"], **SILENT, check=False).returncode:
            time.sleep(0.1)
        with running("redis-benchmark", "-s", socket, *"-l -q -c 4 -d 1000 -r 10000 -t set,get".split(), **SILENT):
            yield program.pid, count


WORKLOADS = {
    "redis-server": redis,
    "web server (Go)": lambda work: web(work, "WORK/web", "serve"),
    "web server (Python)": lambda work: web(work, "/usr/bin/python3", str(HERE / "web.py")),
    "refill loop (worst case)": refill}
# PID stands for the process ID, WORK for a folder.
WATCHERS = {
    "zerotax top": [ZEROTAX, "top", "--samples", "100000", "--json", "WORK/top.json", "--force"],
    "zerotax record --pid": [ZEROTAX, "record", "--pid", "PID", "--seconds", "1000", "--text", "WORK/record.txt", "--force"],
    "zerotax record --pid --light": [ZEROTAX, "record", "--pid", "PID", "--seconds", "1000", "--light", "--text",
                                     "WORK/light.txt", "--force"],
    "perf record -e page-faults -c 1 -g": ["perf", "record", "-q", "-e", "page-faults", "-c", "1", "-g", "-p", "PID", "-o",
                                           "WORK/perf.data"],
    "perf trace -F all": ["perf", "trace", "-F", "all", "--no-syscalls", "-p", "PID", "-o", "WORK/perf.txt"]}


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time that a process and its threads have used, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


Rate = tuple[float, float]  # operations per second, and seconds of CPU time per operation


def rate(watched: Watched, seconds: float) -> Rate:
    """Returns the rate of a process over some seconds."""
    start, before, cpu = time.monotonic(), watched[1](), cpu_seconds(watched[0])
    time.sleep(seconds)
    done = watched[1]() - before
    return done / (time.monotonic() - start), (cpu_seconds(watched[0]) - cpu) / done


def watched_rate(name: str, watched: Watched, work: pathlib.Path, seconds: float) -> tuple[Rate, float]:
    """Returns the rate under a watcher, and the number of CPUs that the watcher used. The watcher has a second to
    start.
    """
    words = [word.replace("PID", str(watched[0])).replace("WORK", str(work)) for word in WATCHERS[name]]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, **SILENT) as watcher:
        time.sleep(1)
        if watcher.poll() is not None:
            sys.exit(f"overhead: {' '.join(words)} ended with {watcher.returncode}")
        before = cpu_seconds(watcher.pid)
        found = rate(watched, seconds)
        used = (cpu_seconds(watcher.pid) - before) / seconds
        watcher.send_signal(signal.SIGINT)
    return found, used


def interval(ratios: list[float]) -> tuple[float, float]:
    """Returns the 95 % interval of the medians of 2,000 draws."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def words_of(ratios: list[float]) -> str:
    """Returns the median ratio in words, such as "-1.23 % (-2.00 to +0.10)"."""
    low, high = interval(ratios)
    return f"{100 * (statistics.median(ratios) - 1):+8.2f} % ({100 * (low - 1):+.2f} to {100 * (high - 1):+.2f})"


def measure(name: str, rounds: int, seconds: float, watchers: list[str]) -> None:
    """Prints a row for each watcher."""
    ratios: dict[str, list[tuple[float, float]]] = {each: [] for each in watchers}
    cpus: dict[str, list[float]] = {each: [] for each in watchers}
    alone: list[float] = []
    with tempfile.TemporaryDirectory() as folder, WORKLOADS[name](pathlib.Path(folder)) as watched:
        time.sleep(2)
        for number in range(rounds):
            order = ["", *watchers]
            order = order[number % len(order):] + order[:number % len(order)]
            found = {}
            for each in order:
                if each:
                    found[each], used = watched_rate(each, watched, pathlib.Path(folder), seconds)
                    cpus[each].append(used)
                else:
                    time.sleep(1)
                    found[""] = rate(watched, seconds)
            alone.append(found[""][0])
            for each in watchers:
                ratios[each].append(tuple(one / other for one, other in zip(found[each], found[""])))
    print(f"{name}: {statistics.median(alone):,.0f} a second alone")
    for each in watchers:
        throughput, cpu = zip(*ratios[each])
        print(f"  {each:35}{rounds:4}{words_of(throughput):>29}{words_of(cpu):>29}{100 * statistics.median(cpus[each]):7.1f} %",
              flush=True)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--workload", action="append", choices=list(WORKLOADS))
    options = parser.parse_args()
    # A shell starts background jobs with SIGINT ignored. The watchers would inherit this, but SIGINT must end the
    # watchers.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # SIGTERM ends all started processes, as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    watchers = [name for name, words in WATCHERS.items() if shutil.which(words[0])]
    print("watched by                         rounds   throughput (95 % interval)  CPU time an operation  its own CPU")
    for name in options.workload or WORKLOADS:
        measure(name, options.rounds, options.seconds, watchers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
