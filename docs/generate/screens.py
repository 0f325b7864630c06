#!/usr/bin/python3
"""Writes results/answers.md: for each command, the default output and the output of --full, one after the other.

usage: docs/generate/screens.py [--check | --measure [COMMAND]...]

Without an option, the script renews the outputs that zerotax makes from committed documents, and keeps the others.
--measure also runs the commands that measure, or only those named. --check changes nothing, and exits with 1 if an output
from a committed document differs. The commands come from build/bin.
"""
from __future__ import annotations

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build"))
PAGE = ROOT / "results" / "answers.md"
REFERENCE = "results/reference"
HEAD = """# Default output and --full of each command

Without `--full`, each command prints at most 24 lines of 80 columns. The outputs under "From committed documents" are made
again by a test, so they are those of the present version. The other outputs come from runs on one machine, so each pair is
from two runs. `docs/generate/screens.py` writes this file.
"""


class Screen(NamedTuple):
    """A command to show. `setup` is a shell script that runs before, in the temporary folder of a command that measures."""
    title: str
    command: str       # words after "zerotax"
    setup: str = ""
    on_stderr: bool = False


READ = [
    Screen("advise: a remedy", f"advise --read {REFERENCE}/advise/numpy.json"),
    Screen("advise: nothing helps", f"advise --read {REFERENCE}/advise/gcc.json"),
    Screen("advise: nothing to gain", f"advise --read {REFERENCE}/advise/git.json"),
    Screen("advise: a frontier", f"advise --read {REFERENCE}/frontier/redis.json"),
    Screen("thresholds: all allocators", f"thresholds --read {REFERENCE}/thresholds.json"),
    Screen("thresholds: one allocator", f"thresholds --read {REFERENCE}/thresholds.json --allocator jemalloc"),
    Screen("findings", f"findings {REFERENCE}"),
    Screen("findings: summary", f"findings {REFERENCE} --summary"),
    Screen("compare: stored runs", f"compare {REFERENCE} {REFERENCE}"),
    Screen("cow: one child", f"cow --read {REFERENCE}/cow/bigarray_python.json"),
    Screen("cow: four children", f"cow --read {REFERENCE}/cow/prefork.json"),
    Screen("fork", f"fork --read {REFERENCE}/fork.json"),
    Screen("snapshot", f"snapshot --read {REFERENCE}/snapshot.json"),
]

PLANTED = BUILD / "tests" / "planted"
ALLOCATOR = f"""cp {PLANTED}/libplanted_never.so libmine.so
zerotax bless --allocator mine=./libmine.so --baseline mine.json --size 64KiB --size 1MiB
cp {PLANTED}/libplanted_zeroes_fresh.so libmine.so"""
PROGRAM = f"""cp {BUILD}/tests/recorded/regressed .
zerotax bless --baseline programs.json -- ./regressed memset"""
REPOSITORY = r"""git init -q mine
cat > mine/mine.c <<'END'
#include <string.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), __libc_free(void *);
void *malloc(size_t size) { return __libc_malloc(size); }
void *realloc(void *block, size_t size) { return __libc_realloc(block, size); }
void free(void *block) { __libc_free(block); }
void *calloc(size_t count, size_t size) { return __libc_calloc(count, size); }
END
git -C mine config user.name you
git -C mine config user.email you@example.com
git -C mine add mine.c
git -C mine commit -qm 'Forward to the C library'
git -C mine tag v1.0
sed -i 's/return __libc_calloc.*/return memset(malloc(count * size), 0, count * size); }/' mine/mine.c
git -C mine commit -qam 'Make calloc simpler'
git -C mine tag v1.1"""
HOW = "--repo mine --build 'cc -O2 -fno-builtin -fPIC -shared -o libmine.so mine.c' --library libmine.so"

MEASURED = [
    Screen("record: a program with several causes",
           "record -- /usr/bin/python3 -c 'for _ in range(100): bytearray(20_000_000)'", on_stderr=True),
    Screen("record: a static program", f"record -- {BUILD}/tests/recorded/ended-static 400 return", on_stderr=True),
    Screen("profile", "profile -- /usr/bin/python3 -c 'for _ in range(400): bytearray(20_000_000)'", on_stderr=True),
    Screen("replay", f"replay {ROOT}/harness/program/replay/workloads/numpy.calls --allocator glibc --allocator largecache"),
    Screen("top", "top --once --interval 1"),
    Screen("trace summary", "trace summary t", f"ZEROTAX_TRACE_DIR=t {BUILD}/tests/traced/first || true"),
    Screen("run", "run --allocator glibc --allocator jemalloc --allocator mimalloc --size 20MiB --size 100MiB"),
    Screen("study", "study --allocator glibc --audit-only"),
    Screen("clients", "clients --allocator glibc --allocator largecache --client cffi_new --client cffi_no_clear --size 10MB"),
    Screen("report", "report --allocator mimalloc --finding mimalloc-redundant-reuse-1MiB"),
    Screen("check: an allocator", "check --allocator mine=./libmine.so --baseline mine.json", ALLOCATOR),
    Screen("check: a program", "check --baseline programs.json -- ./regressed memset", PROGRAM + "\nexport REGRESSED=1"),
    Screen("compare: two allocators", "compare glibc mimalloc --size 1MiB --touch 0"),
    Screen("history", f"history {HOW} --tags 'v*' --size 1MiB --no-thresholds", REPOSITORY),
    Screen("bisect", f"bisect {HOW} --good v1.0 --bad v1.1 --size 64MiB --expect 'zeroed_bytes == 0'", REPOSITORY),
    Screen("contract", "contract --promise dontneed --promise mmap-fresh"),
    Screen("doctor", "doctor"),
]

PARTS = {"From committed documents": READ, "From runs on one machine": MEASURED}


def with_full(command: str) -> str:
    """Returns the command with --full after its name."""
    name, _, rest = command.partition(" ")
    if name == "trace":
        verb, _, rest = rest.partition(" ")
        name = f"{name} {verb}"
    return " ".join(filter(None, [name, "--full", rest]))


def run(screen: Screen, command: str, folder: pathlib.Path) -> str:
    """Returns the output of a command in this folder."""
    environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "NO_COLOR": "1",
                   "XDG_CACHE_HOME": str(folder / "cache")}
    script = f"{{ {screen.setup or ':'}\n}} >/dev/null 2>&1\nexec zerotax {command}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False,
                          timeout=1200)
    if done.returncode not in (0, 1, 3, 7):
        raise SystemExit(f"zerotax {command} exited with {done.returncode}: {done.stderr}")
    text = done.stderr if screen.on_stderr else done.stdout
    if folder != ROOT:  # a committed document has the same paths on every machine
        text = text.replace(f"{folder}/", "./").replace(f"{BUILD}/", "build/").replace(f"{ROOT}/", "")
    return text.rstrip("\n")


def fence(command: str, text: str) -> str:
    """Returns a code block with the command and its output."""
    return f"```\n$ zerotax {command}\n{text}\n```\n"


def section(screen: Screen, is_measured: bool) -> str:
    """Runs a command without and with --full, and returns its section."""
    parts = [f"### {screen.title}\n"]
    for heading, command in (("Default", screen.command), ("With --full", with_full(screen.command))):
        with tempfile.TemporaryDirectory() as name:
            text = run(screen, command, pathlib.Path(name) if is_measured else ROOT)
        shown = command.replace(f"{BUILD}/", "build/").replace(f"{ROOT}/", "")
        parts.append(f"#### {heading}\n\n{fence(shown, text)}")
    return "\n".join(parts)


def present_sections() -> dict[str, str]:
    """Returns the sections of the present file by title."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    for heading in PARTS:
        text = text.replace(f"## {heading}\n\n", "")
    found = re.split(r"^### (.*)\n", text, flags=re.MULTILINE)
    return {title: f"### {title}\n{body.rstrip()}\n" for title, body in zip(found[1::2], found[2::2])}


def page(sections: dict[str, str]) -> str:
    """Returns the file with these sections, in the order of READ and MEASURED."""
    parts = [HEAD]
    for heading, screens in PARTS.items():
        parts.append(f"## {heading}\n")
        parts += [sections[screen.title] for screen in screens if screen.title in sections]
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Writes or checks the file, and returns the exit status."""
    names = arguments[1:] if arguments[:1] == ["--measure"] else None
    if arguments and arguments != ["--check"] and names is None:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    sections = present_sections()
    before = page(sections)
    sections |= {screen.title: section(screen, False) for screen in READ}
    for screen in MEASURED if names is not None else []:
        if not names or screen.title.split(":")[0] in names:
            sections[screen.title] = section(screen, True)
            PAGE.write_text(page(sections), encoding="utf-8")
    if arguments != ["--check"]:
        PAGE.write_text(page(sections), encoding="utf-8")
        return 0
    if page(sections) != before:
        difference = difflib.unified_diff(before.splitlines(), page(sections).splitlines(), "answers.md", "now", n=0, lineterm="")
        print("results/answers.md is out of date: run docs/generate/screens.py", *difference, sep="\n", file=sys.stderr)
    return int(page(sections) != before)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
