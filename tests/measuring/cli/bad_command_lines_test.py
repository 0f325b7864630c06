"""Every command line that makes no sense is refused with status 2 and one line, without measuring, waiting or changing
anything.
"""

import functools
import os
import pathlib
import shlex
import shutil

import pytest
from conftest import LONG_TOO, PLANTED, SOURCE, ZEROTAX, zerotax
from refusing import check_refusal, contents, try_all, try_line

TABLE = pathlib.Path(__file__).with_name("bad_command_lines.rows")

# Command lines that a line of the table cannot represent well.
MORE = [
    (["run", "--allocator", "a\nb=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a\tb=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a\x1b[31m=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a\x7f=libnever.so", "--size", "1MiB"], "control character"),
    (["run", "--allocator", "a" * 5000 + "=libnever.so", "--size", "1MiB"], "100 characters"),
    (["run", "--allocator", "a" * 101 + "=libnever.so", "--size", "1MiB"], "100 characters"),
    (["run", "--allocator", b"a\xff=libnever.so", "--size", "1MiB"], "UTF-8"),
    (["run", "--allocator", "m=" + "x" * 5000, "--size", "1MiB"], "library"),
    (["run", "--allocator", "m=new\nline.so", "--size", "1MiB"], "library"),
    (["run", "--allocator", "glibc", "--size", "9" * 5000], "number"),
    (["run", "--allocator", "glibc", "--size", "1MiB\n"], "unit"),
    (["run", "--allocator", "glibc", "--size", "x" * 5000], "number"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--case", "a\nb"], "unknown case"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--json", "x" * 5000], "cannot write"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--out", "x" * 5000], "folder"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--env", "glibc:A\nB=1"], "variable"),
    (["run", "--allocator", "glibc", "--size", "1MiB", "--ops", "1\n"], "--ops"),
    (["run", "--resume", "x" * 5000], "cannot read"),
    *((["run", "--size", "1MiB", "--on", b"vm:bookworm,sysctl." + word], "another option of the kernel")
      for word in (b"vm.x=1\tinit=/bin/sh", b"vm.x=1\ninit=/bin/sh", b"vm.x=1\rpanic=1", b"vm.x\n=1", b"vm.x=\x0b1", b'vm.x="1',
                   b"vm.x=\xff", b"vm.x=\x7f")),
    (["findings", "x" * 5000], "cannot read"),
    (["findings", "new\nline"], "cannot read"),
    (["check", "--allocator", "glibc", "--baseline", "x" * 5000], "cannot read"),
    (["compare", "run.json", "run.json", "--explain", "\n"], "--explain"),
    (["x" * 5000], "unknown command"),
    (["new\nline"], "unknown command"),
    (["run", "--" + "x" * 5000], "--help"),
    (["run", "--new\nline"], "--help"),
    (["record", "--", "x" * 5000], "no command"),
    (["record", "--weight", "new\nline", "--", "./program"], "redundant"),
    (["trace", "list", "x" * 5000], "folder"),
]


def lines():
    """Returns each command line as (words, texts that the refusal must contain)."""
    rows = [row.rsplit(" | ", 1) for row in TABLE.read_text().splitlines() if not row.startswith("#")]
    return [(shlex.split(command), said.split(" && ")) for command, said in rows] + [(words, [said]) for words, said in MORE]


LINES = lines()
# Each line starts a process, so ./run test tries one line of four.
TRIED = LINES if LONG_TOO else LINES[::4]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    quick = ["run", "--allocator", "glibc", "--size", "64KiB", "--ops", 2]
    for output in (["--out", "results"], ["--json", "run.json"]):
        done = zerotax(*quick, *output, cwd=folder)
        assert done.returncode == 0, done.stderr
    shutil.copy(SOURCE / "tests" / "regression" / "baselines" / "glibc-2.36.json", folder / "baseline.json")
    shutil.copy(PLANTED / "libplanted_never.so", folder / "libnever.so")
    for name in ("program", "program2"):
        shutil.copy("/bin/true", folder / name)
    for name in ("full", "empty", "trace/process"):
        (folder / name).mkdir(parents=True)
    (folder / "full" / "mine.txt").write_text("mine")
    for name in ("metadata", "stream-0"):
        (folder / "trace" / "process" / name).write_text("mine")
    os.mkfifo(folder / "pipe")
    for link, target in [("loop", "loop"), ("link.json", "run.json"), ("linklib.so", "libnever.so"),
                         ("link.program", "program2"), ("linked.txt", "full/mine.txt")]:
        (folder / link).symlink_to(target)
    for link, target in [("hard.json", "run.json"), ("hardlib.so", "libnever.so")]:
        os.link(folder / target, folder / link)
    return folder


@pytest.fixture(scope="module")
def refusals(workspace):
    """The result of each command line, and the contents of the folder before and after all of them."""
    before = contents(workspace)
    results = try_all([functools.partial(try_line, [ZEROTAX, *words], workspace) for words, _ in TRIED])
    return results, before, contents(workspace)


def name_of(words):
    text = " ".join(word if isinstance(word, str) else repr(word) for word in words)
    return text[:70].encode("unicode_escape").decode() or "nothing"


@pytest.mark.parametrize("number", range(len(TRIED)), ids=[f"{i}: {name_of(words)}" for i, (words, _) in enumerate(TRIED)])
def test_a_line_that_makes_no_sense_is_refused_in_one_line(refusals, number):
    line = check_refusal(refusals[0][number])
    assert all(said in line for said in TRIED[number][1]), line


def test_the_lines_are_many_and_differ():
    assert len({tuple(map(str, words)) for words, _ in LINES}) == len(LINES) >= 300


def test_refused_lines_change_nothing(refusals):
    _, before, after = refusals
    assert after == before, sorted(set(after.items()) ^ set(before.items()))[:5]


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"], ["list"], ["help"],
                                       ["run", "--help", "--bogus"]])
def test_what_makes_sense_is_not_refused(arguments):
    assert zerotax(*arguments).returncode == 0


def test_several_outputs_may_go_where_everything_may(workspace, tmp_path):
    run = workspace / "run.json"
    assert zerotax("compare", run, run, "--json", "/dev/null", "--csv", "/dev/null", cwd=tmp_path).returncode in (0, 3)
