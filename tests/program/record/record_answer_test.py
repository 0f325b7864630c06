"""By default `zerotax record` prints one screen: the program's cost of zeroing, the causes, the worst place, and what
to do.
"""

import os
import re
import shlex
import signal
import subprocess

import pytest
from conftest import MIB, NOBODY, clean_environment, skip_if_unreadable, zerotax
from recording import KNOWN, PROGRAMS, record
from zero_page import has_shared_zero_page

LINES, COLUMNS = 24, 80
REFILLS = [PROGRAMS / "refill", "malloc", 40, 4, MIB]
STATIC = PROGRAMS / "ended-static"
IDLE = ["/usr/bin/python3", "-c", "x = 0\nfor i in range(20_000_000): x += i"]


def answer(*words, prefix=(), status=0, **environment):
    """Returns the command's output, after checking that it fits one screen. Each test checks the text itself."""
    done = zerotax("record", *words, prefix=prefix, timeout=120, **environment)
    assert done.returncode == status, done.stderr
    check_screen(done.stderr)
    return done.stderr


def check_screen(text):
    lines = text.splitlines()
    assert 0 < len(lines) <= LINES, text
    for line in lines:
        # A quoted word is not broken across lines.
        assert len(line) <= COLUMNS or len(shlex.split(line.rstrip("\\"))) == 1, line
        assert line == line.rstrip(), repr(line)
    assert "\x1b" not in text and "next: " not in text
    assert re.match(r"\S.* (spent|used) ", lines[0]), text
    assert lines[-1].endswith("--full"), text


def rows(text):
    """Returns the table: cause, bytes, CPU time and share of each row."""
    lines = text.splitlines()
    [head] = [i for i, line in enumerate(lines) if line.startswith("cause ")]
    end = lines.index("", head)
    return [re.split(r" {2,}", re.sub(r"(?<=\w) (?=[KMG]?i?B\b|[nµm]?s\b|%)", " ", line)) for line in lines[head + 1:end]]


def command(text, first):
    """Returns the words of a command that the answer shows, as a shell splits them."""
    return shlex.split(text[text.index(first):].split("\n       or ")[0].replace("\\\n", " "))


def test_one_cause_has_its_cost_its_place_and_a_command_that_cures_it():
    text = answer("--", *REFILLS)
    assert re.match(r"refill spent \d+ % of its CPU time \([\d.]+( ms)? of [\d.]+ m?s\) on zeroing memory\.\n", text), text
    assert rows(text)[0][0].startswith("kernel zeroed memory again (refilled)")
    where = " ".join(text[text.index("Where: "):text.index("Try: ")].split())
    assert "returned" in where and "refill.cc:" in where and "zeroed again" in where and "calls" in where
    words = command(text, "MALLOC_MMAP_THRESHOLD_=")
    assert words[-5:] == [str(word) for word in REFILLS] and "MALLOC_TRIM_THRESHOLD_=1073741824" in words
    settings = dict(word.split("=", 1) for word in words[:-5])
    assert "or let zerotax find and prove a remedy:" in text and "zerotax advise -- " in text
    cured = record(*REFILLS, **settings)
    before = record(*REFILLS)
    assert cured.totals["kernel"]["refilled_bytes"] < 0.1 * before.totals["kernel"]["refilled_bytes"]


def test_the_rows_of_several_causes_are_sorted_and_take_one_percent_or_more():
    text = answer("--", KNOWN, status=3)
    shares = [float(row[-1].split()[0]) for row in rows(text) if row[-1] != "n/a"]
    assert len(shares) >= 3 and shares == sorted(shares, reverse=True) and min(shares) >= 1, text
    assert "! known exited with 3." in text


def test_a_program_that_zeroes_nothing_has_one_sentence():
    text = answer("--", *IDLE)
    if not has_shared_zero_page():
        pytest.skip("kernels without a shared zero page are PVM guests, where page faults of python3's start take over 1 %")
    assert re.match(r"python3 spent (under )?0\.\d % of its CPU time \([\d.]+( [nµm]?s)? of [\d.]+ m?s\) on zeroing memory, so "
                    r"there is nothing to gain\. All causes, sites and sizes: --full$", " ".join(text.split())), text
    assert len(text.splitlines()) <= 3


def test_a_killed_program_says_so_and_has_bounds():
    text = answer("--", "sh", "-c", "kill -9 $$", status=128 + signal.SIGKILL)
    assert "! sh was killed by SIGKILL." in text and re.match(r"sh (spent at (most|least)|used) ", text)
    assert "not seen" in text or "unknown" in text


@pytest.mark.parametrize("program", [REFILLS, [STATIC, 40, "return"]], ids=["library", "static"])
def test_nobody_gets_the_same_screen(program):
    skip_if_unreadable()
    answer("--", *program, prefix=NOBODY if os.geteuid() == 0 else [], status=0 if program is REFILLS else 7)


def test_a_static_program_is_recorded_from_outside_and_says_what_that_does_not_show():
    text = answer("--", STATIC, 400, "return", status=7)
    assert "! ended-static exited with 7." in text
    assert "From outside, calls to malloc and redundant zeroing are not seen." in " ".join(text.split()) or "unknown" in text


def test_two_hundred_processes_fit():
    text = answer("--", "sh", "-c", f"for i in $(seq 200); do /bin/true; done; {shlex.join(map(str, REFILLS))}; exit 0")
    assert re.match(r"sh and 20\d other processes spent .* of their CPU time", " ".join(text.split()))
    assert re.search(r"refill \(PID \d+\) had most bytes zeroed: ", " ".join(text.split())), text


def test_many_programs_that_are_not_recorded_fit():
    lines = "; ".join(f"cp {STATIC} $0/static{i}; $0/static{i} 1 return" for i in range(30))
    text = answer("--", "sh", "-c", f"d=$(mktemp -d); set -- $d; sh -c '{lines}' $d; rm -r $d; exit 0")
    assert "more programs were not recorded, either" in " ".join(text.split()) or "more warning" in text, text


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "40"}, {"LC_ALL": "C"}])
def test_the_terminal_changes_nothing_in_a_pipe(environment):
    answer("--", *REFILLS, **environment)


def test_full_has_the_headline_first_and_the_tables():
    done = zerotax("record", "--full", "--", *REFILLS)
    assert done.returncode == 0 and len(done.stderr.splitlines()) > LINES
    assert re.match(r"refill spent \d+ % of its CPU time", done.stderr)
    for table in ("\ncause  ", "\nreturned to the kernel in ", "\nin  ", "\ncalled  ", "\nzeros of ", "\nsize  ", "\npid  "):
        assert done.stderr.count(table) == 1, table
    assert done.stderr.count("zerotax advise -- ") == 1


def test_a_text_file_is_whole(tmp_path):
    done = zerotax("record", "--text", tmp_path / "r.txt", "--", *REFILLS)
    assert done.returncode == 0 and done.stderr == "" and "\nzeros of " in (tmp_path / "r.txt").read_text()


def test_a_running_process_has_the_command_that_watches_for_longer():
    with subprocess.Popen(["/bin/sleep", "100"], env=clean_environment()) as quiet:
        try:
            text = answer("--pid", quiet.pid, "--seconds", 1)
        finally:
            quiet.kill()
    assert f"zerotax record --pid {quiet.pid} --seconds " in text and "(PID " in text.splitlines()[0]
