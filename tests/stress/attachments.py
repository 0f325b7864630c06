"""Checks that `zerotax record --pid` does no harm to a program that allocates in eight threads.

The program runs watched and unwatched in turn. Exit status 1 if any watched run ended or printed differently than an
unwatched run.

usage: attachments.py [--times N]
"""
from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

BUILD = Path(os.environ.get("ZEROTAX_BUILD", Path(__file__).resolve().parents[2] / "build"))
PROGRAM = BUILD / "tests" / "recorded" / "threads_unharmed"


def run(watched: bool) -> tuple[int, str, float, int]:
    """Returns exit status, output and seconds of the program, and the exit status of its watcher."""
    start = time.monotonic()
    with subprocess.Popen([PROGRAM], stdout=subprocess.PIPE, text=True) as program:
        program.stdout.readline()
        words = [BUILD / "bin" / "zerotax", "record", "--pid", str(program.pid), "--seconds", "60", "--text", os.devnull]
        with subprocess.Popen(words if watched else ["true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as watcher:
            output = program.stdout.read()
            program.wait()
            seconds = time.monotonic() - start
            return program.returncode, output, seconds, watcher.wait()


def main() -> int:
    """Prints the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=1000)
    times = parser.parse_args().times
    expected = run(False)[:2]
    harmed, failed, late, ratios = 0, 0, 0, []
    for _ in range(times):
        alone, watched = run(False), run(True)
        harmed += (watched[:2] != expected) + (alone[:2] != expected)
        # Status 2 means that the program ended before the watcher attached.
        late += watched[3] == 2
        failed += watched[3] not in (0, 2)
        ratios.append(watched[2] / alone[2])
    ratios.sort()
    print(f"{times} attachments to a program that allocates in 8 threads: {harmed} harmed, {failed} not recorded "
          f"to the end; {late} began too late")
    print(f"its wall time, watched / not: median {statistics.median(ratios):.3f}, half of them {ratios[times // 4]:.3f} to "
          f"{ratios[3 * times // 4]:.3f}; both share the CPUs with the recorder")
    return int(harmed + failed > 0)


if __name__ == "__main__":
    sys.exit(main())
