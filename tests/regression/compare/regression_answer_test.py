"""Each command that searches for a change answers on one screen. --full prints every table."""

import json
import pathlib
import sys
import tempfile

import pytest

from answers import answer_of, check_screen
from conftest import NOBODY, SOURCE, planted, skip_if_unreadable, zerotax
from recording import PROGRAMS

sys.path.insert(0, str(SOURCE / "tests" / "regression" / "bisect"))
from projects import GOOD, HOW, QUICK, ZEROES, make_project, run  # noqa: E402

pytestmark = pytest.mark.timeout(240)
REFERENCE = SOURCE / "results" / "reference"
REGRESSED = PROGRAMS / "regressed"
PREFIXES = pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "nobody"])


def screen(*words, begins, status=0, **how):
    """Returns a command's answer in a pipe, joined into one line. The answer must fit on one screen."""
    if how.get("prefix"):
        skip_if_unreadable()
    done = zerotax(*words, NO_COLOR="1", **how)
    assert done.returncode == status, done.stdout + done.stderr
    lines = answer_of(done.stdout, begins)
    assert lines == done.stdout.splitlines(), "the headline is the first line"
    check_screen(lines)
    return " ".join(done.stdout.split())


def library(name):
    return "mine=" + planted(name)[1].partition("=")[2]


@pytest.fixture(scope="module", name="never")
def _never():
    """Returns the baseline of an allocator that zeroes nothing needlessly. Other users can read the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "mine.json")
        file.parent.chmod(0o755)
        done = zerotax("bless", "--allocator", library("planted_never"), "--baseline", file, "--size", "64KiB", "--size", "1MiB")
        assert done.returncode == 0, done.stderr
        yield file


@PREFIXES
def test_check_of_an_allocator_that_is_the_same(never, prefix):
    text = screen("check", "--allocator", library("planted_never"), "--baseline", never, begins="same: ", prefix=prefix)
    assert text.startswith("same: 8 points as in the baseline. ") and f"was compared with {never}." in text
    assert "Try:" not in text and text.endswith("Counts are exact. Times were not compared; zerotax compare measures times.")


@PREFIXES
def test_check_of_an_allocator_that_is_worse(never, prefix):
    words = ["check", "--allocator", library("planted_memset"), "--baseline", never]
    text = screen(*words, begins="mixed: ", status=1, prefix=prefix)
    for part in ("now zeroes ", "metric at before now", "worse redundant zeroed bytes 1 MiB touch ", " 0 B 1 MiB",
                 "Where: ", " at 8 points from 64 KiB to 1 MiB: ", "calloc zeroes reused memory (worse, ",
                 "Try: if the change is intended, store it as the new baseline: zerotax bless --allocator ",
                 "if not, find the commit since the baseline (adapt --build): zerotax bisect --repo . "
                 "--build make --library libplanted_memset.so --good $(git log -1 --format=%h -- ",
                 " --bad HEAD --size 64KiB --no-thresholds",
                 "All changes: --explain. ", ": --full"):
        assert part in text.replace(" \\ ", " "), (part, text)
    full = zerotax(*words, "--full").stdout
    assert text.partition(". ")[0] == full.splitlines()[0] and "accept it with: zerotax bless" in full


def test_check_of_several_allocators(tmp_path):
    (tmp_path / "b").mkdir()
    names = [word for name in ("glibc", "largecache") for word in ("--allocator", name)]
    assert zerotax("bless", *names, "--baseline", tmp_path / "b", "--size", "64KiB").returncode == 0
    words = ["check", *names, "--baseline", tmp_path / "b"]
    assert screen(*words, begins="same: ").startswith("same: 2 allocators as in their baselines. allocator verdict ")
    file, = (tmp_path / "b").glob("glibc*.json")
    document = json.loads(file.read_text())
    for point in document["points"]:
        point["redundant_zeroed_bytes"] = point["zeroed_bytes"] = 0
    file.write_text(json.dumps(document))
    text = screen(*words, begins="worse: ", status=1)
    assert "worse: 1 of 2 allocators differs" in text and "glibc worse " in text and "Where: The verdict on glibc " in text


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory):
    file = tmp_path_factory.mktemp("programs") / "b.json"
    for words in ([REGRESSED, "memset"], ["sh", "-c", "exit ${STATUS-0}"]):
        assert zerotax("bless", "--baseline", file, "--", *words).returncode == 0
    return file


def test_check_of_a_program(program):
    words = ["check", "--baseline", program, "--", REGRESSED, "memset"]
    assert "regressed was compared with 3 runs in " in screen(*words, begins="same: ")
    text = screen(*words, begins="worse: ", status=1, REGRESSED="1").replace(" \\ ", " ")
    for part in ("metric before now", "Where: memset ", "if the change is intended, store it as the new baseline: ",
                 f"zerotax bless --baseline {program} -- ", "if not, find the commit since the baseline (adapt --build): ",
                 f"--good $(git log -1 --format=%h -- {program}) --bad HEAD -- ", " counts repeat exactly. ",
                 " show each change. ",
                 "All changes: --explain. All causes, and all places that changed: --full"):
        assert part in text, (part, text)
    assert "(regressed.cc:" in zerotax(*words[:1], "--full", *words[1:], REGRESSED="1").stdout


def test_compare_of_stored_runs(tmp_path):
    text = screen("compare", REFERENCE, REFERENCE, begins="same: ")
    assert "SAME of 679 points" in text and "made separately" in text
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    assert zerotax("run", "--allocator", "glibc", "--size", "64KiB", "--size", "1MiB", "--ops", 20, "--json", old).returncode == 0
    document = json.loads(old.read_text())
    for point in document["points"]:
        point["zeroed_bytes"] += point["size_bytes"]
    new.write_text(json.dumps(document))
    text = screen("compare", old, new, begins="worse: ", status=1)
    for part in (" SLOWER of ", "point OLD NEW NEW/OLD verdict", "Where: ", "zeroed bytes ",
                 "explain this verdict: zerotax compare "):
        assert part in text, (part, text)
    text = screen("compare", old, new, old, begins="worse: ", status=1)
    for part in ("in 2 runs. OLD is ", "NEW SLOWER FASTER SAME other most ", "made separately"):
        assert part in text, (part, text)


def test_compare_of_allocators():
    libraries = [library(name).partition("=")[2] for name in ("planted_never", "planted_memset_above")]
    text = screen("compare", *libraries, "--size", "16MiB", "--touch", 0, "--rounds", 12, begins="worse: ", status=1)
    for part in ("1 SLOWER of 1 point. OLD is libplanted_never ", "16 MiB touch 0 ", "Where: 16 MiB touch 0: ", "--explain 1"):
        assert part in text.replace(" \\ ", " "), (part, text)


def test_compare_along_touch():
    text = screen("compare", "glibc", library("planted_never"), "--along", "touch", "--size", "64KiB", "--rounds", 3,
                  begins="A is glibc ")
    assert "from to cheaper" in text and "3 pairs of processes" in text


def test_compare_of_programs():
    words = ["--", REGRESSED, "calloc", "---", REGRESSED, "calloc"]
    text = screen("compare", "--rounds", 10, "--env", "new:REGRESSED=1", *words, begins="worse: ", status=1)
    for part in ("CPU time ", "metric before now", "Where: ", "find the calls in NEW: REGRESSED=1 zerotax record -- ",
                 "10 pairs"):
        assert part in text.replace(" \\ ", " "), (part, text)


def test_history_and_bisect(tmp_path):
    project, cache = tmp_path / "p", tmp_path / "cache"
    make_project(project, [GOOD, GOOD, GOOD, ZEROES, ZEROES], [("v1.0", 1), ("v1.1", 5)])

    def answer(command, *words):
        done = zerotax(command, "--repo", project, *HOW, *words, XDG_CACHE_HOME=str(cache), NO_COLOR="1")
        assert done.returncode == 0, done.stderr
        check_screen([line for line in done.stdout.splitlines() if "-fPIC" not in line])
        return " ".join(done.stdout.split()).replace(" \\ ", " ")

    text = answer("history", *QUICK, "--tags", "v*")
    for part in ("1 of 2 versions changed what calloc and free do.", "version date what it changed v1.1 ",
                 "Where: The verdict on v1.1 is worse: ",
                 "find the commit between the two versions: zerotax bisect --repo ", "--good v1.0 --bad v1.1",
                 "All versions: --full"):
        assert part in text, (part, text)
    assert "the first that was measured" in run("history", project, cache, *HOW, *QUICK, "--tags", "v*").stdout
    text = answer("bisect", "--good", "v1.0", "--bad", "v1.1", "--size", "64KiB", "--expect", "zeroed_bytes == 0")
    for part in ("is the first that is not as expected: zeroed_bytes is 65,536; before: zeroed_bytes is 0.",
                 "good zeroed_bytes is 0 ",
                 "bad zeroed_bytes is 65,536", "Where: commit ", "Step 4:", "Try: git -C ", "--report FILE", "--full"):
        assert part in text, (part, text)
