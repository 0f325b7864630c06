"""Records the calls of the twelve programs; the files *.calls were made this way.

usage: record.py [--out FOLDER] [--program NAME]...
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import SOURCE, programs

ZEROTAX = Path(os.environ.get("ZEROTAX_BUILD", SOURCE / "build")) / "bin" / "zerotax"


def zerotax(*words: object) -> subprocess.CompletedProcess:
    """Runs zerotax. If zerotax fails, exits with its error output."""
    done = subprocess.run([ZEROTAX, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.decode(errors='replace')}")
    return done


def record(command: list[str], path: Path) -> str:
    """Records the calls of a command. Returns the last line that zerotax prints, which describes the file."""
    said = zerotax("record", "--text", os.devnull, "--allocator", "glibc", "--calls", path, "--", *command)
    return said.stderr.decode(errors="replace").splitlines()[-1]


def main() -> None:
    """Records the programs, and prints the content of each recording."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--program", action="append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = programs(Path(folder))
        for name in options.program or commands:
            print(record(commands[name], options.out / f"{name}.calls"), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_GLOBAL", os.devnull)
    main()
