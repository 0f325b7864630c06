#!/usr/bin/python3
"""What watching a process from outside costs its throughput: `zerotax top` and `zerotax record --pid`, beside perf record
of each page fault with its stack and `perf trace -F all`.

usage: overhead.py [--rounds N] [--seconds S] [--workload NAME]...

A server under a steady load (redis, a Go and a Python web server), and a loop that refills 8 MiB a round, the worst case.
A round has a window under each watcher and one under none, in an order that rotates; the ratio of a round is that of its
windows. heaptrack and memray are left out: what they inject stays in the process, and no later window would be one
without a watcher. Printed: the median of the ratios of throughput, and of the CPU time that the watched process took for
an operation, each with a bootstrap interval of 95 %, and the watcher's own CPU time. Where all CPUs are busy the
throughput pays for that, too.
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
Watched = tuple[int, Callable[[], int]]  # PID, and what it has done so far


def counter(work: pathlib.Path) -> tuple[str, Callable[[], int]]:
    """A file in which a program counts, and a function that reads the count."""
    path = work / "counter"
    path.write_bytes(bytes(4096))
    return str(path), lambda: struct.unpack("Q", path.read_bytes()[:8])[0]


@contextlib.contextmanager
def running(*words: str, **options) -> Iterator[subprocess.Popen]:
    """A program that is killed at the end."""
    with subprocess.Popen(words, **options) as program:
        try:
            yield program
        finally:
            program.kill()


@contextlib.contextmanager
def refill(work: pathlib.Path) -> Iterator[Watched]:
    """The refill loop; counts rounds."""
    subprocess.run(["c++", "-O2", "-g", "-o", work / "refill", HERE / "refill.cc"], check=True)
    path, count = counter(work)
    with running(str(work / "refill"), path) as program:
        yield program.pid, count


@contextlib.contextmanager
def web(work: pathlib.Path, *server: str) -> Iterator[Watched]:
    """A web server and its clients; counts requests."""
    subprocess.run(["go", "build", "-o", work / "web", HERE / "web.go"], check=True)
    path, count = counter(work)
    with running(*(word.replace("WORK", str(work)) for word in server), path, stdout=subprocess.PIPE, text=True) as program:
        with running(str(work / "web"), "load", program.stdout.readline().strip(), **SILENT):
            yield program.pid, count


@contextlib.contextmanager
def redis(work: pathlib.Path) -> Iterator[Watched]:
    """redis-server under redis-benchmark; counts commands."""
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
# PID stands for itself, WORK for a folder.
WATCHERS = {
    "zerotax top": [ZEROTAX, "top", "--samples", "100000", "--json", "WORK/top.json", "--force"],
    "zerotax record --pid": [ZEROTAX, "record", "--pid", "PID", "--seconds", "1000", "--text", "WORK/record.txt", "--force"],
    "zerotax record --pid --light": [ZEROTAX, "record", "--pid", "PID", "--seconds", "1000", "--light", "--text",
                                     "WORK/light.txt", "--force"],
    "perf record -e page-faults -c 1 -g": ["perf", "record", "-q", "-e", "page-faults", "-c", "1", "-g", "-p", "PID", "-o",
                                           "WORK/perf.data"],
    "perf trace -F all": ["perf", "trace", "-F", "all", "--no-syscalls", "-p", "PID", "-o", "WORK/perf.txt"]}


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and its threads so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


Rate = tuple[float, float]  # operations in a second, and seconds of CPU time for each


def rate(watched: Watched, seconds: float) -> Rate:
    """The rate of a process over some seconds."""
    start, before, cpu = time.monotonic(), watched[1](), cpu_seconds(watched[0])
    time.sleep(seconds)
    done = watched[1]() - before
    return done / (time.monotonic() - start), (cpu_seconds(watched[0]) - cpu) / done


def watched_rate(name: str, watched: Watched, work: pathlib.Path, seconds: float) -> tuple[Rate, float]:
    """The rate under a watcher, which has a second to begin, and the CPUs that it used meanwhile."""
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
    """The 95 % interval of the medians of 2,000 draws."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def words_of(ratios: list[float]) -> str:
    """The median ratio as "-1.23 % (-2.00 to +0.10)"."""
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
    # A shell starts background jobs with SIGINT ignored. The watchers would inherit that, but SIGINT must end them.
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
