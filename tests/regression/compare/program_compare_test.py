"""`zerotax compare -- COMMAND --- COMMAND` compares two commands or settings by exact counts, and by times in pairs."""
import json

import pytest
from answers import check_screen
from conftest import check_schema, zerotax
from recording import PROGRAMS

REGRESSED = PROGRAMS / "regressed"


def compare(*words, options=(), status=0, **environment):
    done = zerotax("compare", *options, "--", *words, **environment)
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.mark.parametrize(("way", "function"), [
    pytest.param("threshold", "returned by free in Decoder::reset (regressed.cc:", marks=pytest.mark.long("another metric")),
    ("calloc", "memset of a new block in make_table (regressed.cc:")])
def test_a_setting_of_one_side_is_named_with_its_function(way, function, tmp_path):
    file = tmp_path / "compare.json"
    done = compare(REGRESSED, way, "---", REGRESSED, way, options=["--env", "new:REGRESSED=1", "--json", file], status=1)
    assert done.stdout.startswith("worse: ") and function in " ".join(done.stdout.split())
    document = json.loads(file.read_text())
    check_schema(document, "program_compare")
    assert document["verdict"] == "worse" and not document["passed"] and len(document["pairs"]) == 16
    assert document["after"]["env"] == {"REGRESSED": "1"} and document["before"]["env"] == {}
    check_screen(done.stdout.splitlines())


@pytest.mark.long("a comparison more")
def test_the_reverse_is_better():
    done = zerotax("compare", "--rounds", "10", "--env", "old:REGRESSED=1", "--", REGRESSED, "calloc", "---", REGRESSED,
                   "calloc")
    # NEW may be slower by chance, but this test is about counts.
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.startswith("better: memory zeroed by malloc+memset"), done.stdout


def test_a_command_is_the_same_as_itself_under_another_name(tmp_path):
    other = tmp_path / "renamed"
    other.write_bytes(REGRESSED.read_bytes())
    other.chmod(0o755)
    done = zerotax("compare", "--rounds", "10", "--json", "-", "--", REGRESSED, "child", "---", other, "child")
    document = json.loads(done.stdout)
    assert document["verdict"] == "same" and document["changes"] == [], document["changes"]
    assert [time["name"] for time in document["times"]] == ["CPU time", "wall time"]
    assert document["times"][0]["line"] in document["sentence"]


@pytest.mark.parametrize(("options", "words", "complaint"), [
    ([], ["true"], "give two commands, with --- between them"),
    ([], ["true", "---"], "give two commands"),
    ([], ["---", "true"], "give two commands"),
    ([], ["true", "---", "no-such-program"], "no-such-program"),
    ([], ["true", "---", "false"], "'false' ended with exit status 1"),
    (["--rounds", "2"], ["true", "---", "true"], "--rounds 2 is out of range"),
    (["--along", "size"], ["true", "---", "true"], "--along is for an allocator"),
    (["--env", "other:A=1"], ["true", "---", "true"], "--env names 'other', which is neither old nor new"),
    (["--explain", "3"], ["true", "---", "true"], "--explain 3 names no point"),
    (["--timeout", "0.2"], ["sleep", "5", "---", "true"], "'sleep' did not end within 0.2 s"),
])
def test_bad_input_is_refused_in_one_line(options, words, complaint):
    done = compare(*words, options=options, status=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and complaint in done.stderr, done.stderr


def test_without_commands_both_sides_must_be_named():
    done = zerotax("compare", "glibc")
    assert done.returncode == 2 and "give OLD and NEW, or two commands" in done.stderr
