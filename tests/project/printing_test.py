"""All text for people leaves the harness through one function, and all JSON through another function (os/print.h and
base/json.h). These functions make foreign names safe.
"""

import functools
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
HARNESS = SOURCE / "harness"
WRITES = re.compile(r"std::c(?:out|err|log)\b|fmt::(?:v?print|println)\b|\b(?:std::)?v?f?printf\s*\(|\bd?v?dprintf\s*\("
                    r"|\b(?:std::)?(?:fputs|puts|fwrite|putchar|fputc|putc|perror|psignal|psiginfo)\s*\(")
DUMPS = re.compile(r"(?:\.|->)dump\s*\(|error_handler_t::")
# Exceptions: the function itself, files that print only our own text, and files that this test does not cover.
MAY_WRITE = {
    "foundation/os/print.cc": "the one function",
    "foundation/os/terminal.cc": "moves the cursor",
    "measuring/run/machine/boot.cc": "between fork and exec, prints the emulator's path and the system's error",
    "program/trace/document.cc": "JSON, in which json_line makes every text",
}
MAY_DUMP = {"foundation/base/json.cc": "the one function"}
# C programs that are measured, or that run in place of zerotax and whose output zerotax reads.
OTHER_PROGRAMS = ("kernel/contract/suite/", "kernel/snapshot/process/", "kernel/fork/process/", "program/replay/process/",
                  "measuring/run/process/", "measuring/probe/", "program/record/preload/", "regression/bench/preload/",
                  "program/trace/reader/", "allocator/report/reproducers/", "allocator/prove/process/",
                  "measuring/run/machine/guest_init.c",
                  "measuring/meter/")


def without_text(source):
    """Returns code without comments and strings."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                  lambda found: '""' if found[0][0] in "R\"" else " ", source, flags=re.DOTALL)


@functools.cache
def code():
    """Returns the code of each file."""
    files = [path for path in HARNESS.rglob("*") if path.suffix in (".cc", ".h", ".c")]
    return {str(path.relative_to(HARNESS)): without_text(path.read_text(encoding="utf-8")) for path in files}


def offenders(pattern, allowed=()):
    return {name for name, text in code().items()
            if name not in allowed and not name.startswith(OTHER_PROGRAMS) and pattern.search(text)}


def test_text_is_printed_by_one_function():
    assert offenders(WRITES, MAY_WRITE) == set()


def test_json_is_written_by_one_function():
    assert offenders(DUMPS, MAY_DUMP) == set()


def test_no_exception_is_without_need():
    assert set(MAY_WRITE) <= offenders(WRITES)
    assert set(MAY_DUMP) <= offenders(DUMPS)


def test_it_is_seen_however_it_is_written():
    for each in ("std::cout << x;", "fmt::print(stderr, x);", "::printf(x);", "std::fprintf (stderr, x);", "fputs(x, stdout);",
                 "std::fwrite(x, 1, 2, stdout);", "::dprintf(1, x);", "perror(x);"):
        assert WRITES.search(without_text(each)), each
    for each in ("std::snprintf(x, 1, y);", "// printf(x)", 'text = "fmt::print(";', "print(stderr, x);"):
        assert not WRITES.search(without_text(each)), each
    assert DUMPS.search("json.dump(1)") and DUMPS.search("Json::error_handler_t::replace")
