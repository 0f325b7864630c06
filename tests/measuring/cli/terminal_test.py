"""Color, plots and the last line with the next command appear on a terminal only, never in a pipe or a file."""

import fcntl
import json
import os
import pty
import re
import struct
import termios

import pytest
from conftest import PLANTED, SOURCE, ZEROTAX, clean_environment, zerotax

REFERENCE = SOURCE / "results" / "reference"
ESCAPE = "\x1b["
WASTEFUL = ["--allocator", f"wasteful={PLANTED / 'libplanted_memset.so'}"]
QUICK = ["--size", "256KiB", "--size", "1MiB", "--ops", "8"]


def at_terminal(*words, columns=80, **environment):
    """The output of a command on both streams, on a terminal with this many columns, and the exit status."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execve(ZEROTAX, [str(ZEROTAX), *map(str, words)], clean_environment(**{"TERM": "xterm", **environment}))
    said = b""
    try:
        while chunk := os.read(terminal, 65536):
            said += chunk
    except OSError:
        pass  # the child has ended, so Linux returns EIO
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said.decode().replace("\r\n", "\n"), status


def findings(*words, **environment):
    return at_terminal("findings", REFERENCE, "--allocator", "mimalloc", *words, **environment)


def command_in(said):
    """Returns the ids of findings in the commands to paste. Joins command lines that are split by a backslash."""
    return re.findall(r"zerotax report --allocator mimalloc --finding (mimalloc-\S+)", " ".join(said.replace("\\\n", "").split()))


def test_words_are_coloured_at_a_terminal_that_has_colour():
    said, status = findings()
    assert status == 1 and f"{ESCAPE}1;31mhigh{ESCAPE}0m" in said


@pytest.mark.parametrize(("words", "environment"), [
    (["--color", "never"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), ([], {"TERM": ""})])
def test_and_not_where_nobody_wants_it(words, environment):
    assert ESCAPE not in findings(*words, **environment)[0]


def test_an_empty_no_color_is_none():
    assert ESCAPE in findings(NO_COLOR="")[0]


def test_colour_is_never_in_a_pipe_or_a_file_unless_asked_for(tmp_path):
    arguments = ["findings", REFERENCE, "--allocator", "mimalloc"]
    plain = zerotax(*arguments, "--json", tmp_path / "f.json", "--markdown", tmp_path / "f.md", TERM="xterm")
    assert ESCAPE not in plain.stdout + plain.stderr and "next:" not in plain.stdout + plain.stderr
    coloured = zerotax(*arguments, "--color", "always", "--json", tmp_path / "g.json", "--markdown", tmp_path / "g.md")
    assert ESCAPE in coloured.stdout
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout) == plain.stdout, "colour adds nothing else"
    for name in ("json", "md"):
        assert (tmp_path / f"f.{name}").read_text() == (tmp_path / f"g.{name}").read_text()


def test_the_last_line_says_what_to_do_next():
    said, _ = findings("--color", "never")
    assert "next:" not in said
    [found] = command_in(said)
    assert said.count(found) > 1
    said, _ = findings("--full", "--color", "never")
    assert said.splitlines()[-1] == f"next: zerotax report --allocator mimalloc --finding {found}"


def test_json_has_no_such_line():
    said, _ = at_terminal("findings", REFERENCE, "--allocator", "mimalloc", "--json", "-")
    document, _ = json.JSONDecoder().raw_decode(said)
    assert "next" not in document


def test_run_goes_on_with_its_findings(tmp_path):
    said, _ = at_terminal("run", *WASTEFUL, *QUICK, "--json", tmp_path / "r.json")
    assert f"zerotax findings {tmp_path / 'r.json'}" in " ".join(said.replace("\\\n", "").split()) and "next:" not in said
    assert ESCAPE + "1;31m" in said, "what is redundant stands out"
    said, _ = at_terminal("run", "--allocator", f"never={PLANTED / 'libplanted_never.so'}", *QUICK)
    assert "Try:" not in said, "there is nothing to act on"


def test_doctor_and_thresholds_say_what_to_do():
    said, _ = at_terminal("doctor", "--color", "never")
    assert "\nTry:   " in said and "next:" not in said
    said, _ = at_terminal("thresholds", "--allocator", "glibc", "--from", "64KiB", "--to", "1MiB", "--touch", "0", "--grid", "1",
                          "--full")
    found = re.search(r"^next: zerotax run --allocator glibc --size (\d+) --size (\d+) --touch 0$", said, re.M)
    if "no change found" not in said:
        assert found is None or int(found.group(2)) == int(found.group(1)) + 1


def test_record_goes_on_with_advice_where_zeroing_costs():
    said, _ = at_terminal("record", "--", "/usr/bin/python3", "-c", "for _ in range(100): bytearray(20_000_000)")
    assert "zerotax advise -- /usr/bin/python3 -c" in said and "next: " not in said


def drawn(text):
    """The lines of the plot alone, from the axis of times on."""
    return text[text.index("time of one calloc\n"):text.index("\nA line joins")]


@pytest.mark.parametrize(("locale", "unicode"), [("C", False), ("C.UTF-8", True)])
def test_run_draws_by_the_locale(locale, unicode):
    done = zerotax("run", *WASTEFUL, *QUICK, "--plot", LC_ALL=locale)
    picture = drawn(done.stdout)
    assert picture.isascii() is not unicode
    assert "wasteful" in picture and "size asked of calloc" in picture and "256 KiB" in picture
    assert all(len(line) <= 80 for line in picture.splitlines())
    assert ("\u2502" in picture) is unicode


def test_the_picture_is_as_wide_as_the_terminal():
    said, _ = at_terminal("run", *WASTEFUL, *QUICK, "--plot", columns=120)
    assert 100 < max(map(len, drawn(said).splitlines())) <= 120


def test_json_has_no_picture():
    done = zerotax("run", *WASTEFUL, *QUICK, "--plot", "--json", "-")
    json.loads(done.stdout)


def test_thresholds_draw_a_map_of_an_earlier_file():
    done = zerotax("thresholds", "--read", REFERENCE / "thresholds.json", "--plot")
    assert done.returncode == 0, done.stderr
    assert "# zeroes needlessly" in done.stdout and "| changes here" in done.stdout and "size asked of calloc" in done.stdout
    lanes = [line for line in done.stdout.splitlines() if re.match(r"\w+.* touch [0-9.]+ ", line)]
    assert len(lanes) >= 7 and all(len(line) <= 80 for line in lanes)


def test_compare_draws_the_ratio_of_each_point(tmp_path):
    run = tmp_path / "r.json"
    assert zerotax("run", *WASTEFUL, *QUICK, "--json", run).returncode == 0
    done = zerotax("compare", run, run, "--plot")
    picture = done.stdout[done.stdout.index("Ratio of each point"):]
    assert "time of NEW / OLD" in picture and picture.count("o ") >= 2 and ":" in picture
