"""zerotax bless and zerotax check: a change of behaviour is found, named, and can be accepted."""
import json
import sys

import pytest
from conftest import SOURCE, check_schema, planted, zerotax

sys.path.append(str(SOURCE / "tests" / "stress"))
from check_alarms import busy_neighbours  # noqa: E402

BASELINES = SOURCE / "tests" / "regression" / "baselines"


def library(name):
    """The path in the --allocator word of a planted allocator."""
    return planted(name)[1].partition("=")[2]


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    """What an allocator did that always zeroes."""
    file = tmp_path_factory.mktemp("baseline") / "mine.json"
    done = zerotax("bless", "--allocator", f"mine={library('planted_memset')}", "--baseline", file)
    assert done.returncode == 0, done.stderr
    return file


def test_a_baseline_is_valid_and_has_no_times(baseline):
    document = json.loads(baseline.read_text())
    check_schema(document, "baseline")
    assert "_ns" not in baseline.read_text()


def test_the_same_allocator_passes(baseline):
    done = zerotax("check", "--allocator", f"mine={library('planted_memset')}", "--baseline", baseline)
    assert done.returncode == 0, done.stdout
    assert "as in" in done.stdout


def test_another_policy_fails_with_before_and_after_and_how_to_accept_it(baseline):
    done = zerotax("check", "--allocator", f"mine={library('planted_memset_above')}", "--baseline", baseline)
    assert done.returncode == 1
    assert "zeroed_bytes: before 65536, now 0" in done.stdout
    assert "there is a new threshold at 1000004 bytes" in done.stdout
    assert "zerotax bless --allocator mine=" in done.stdout


@pytest.fixture(scope="module")
def by_clock(tmp_path_factory):
    """The baseline of an allocator that purges what was freed 10 ms ago, and what bless said."""
    file = tmp_path_factory.mktemp("clock") / "mine.json"
    done = zerotax("bless", "--allocator", f"mine={library('planted_by_clock')}", "--baseline", file)
    assert done.returncode == 0, done.stderr
    return file, done.stdout


def check_beside_neighbours(name, file):
    with busy_neighbours(4):
        done = zerotax("check", "--allocator", f"mine={library(name)}", "--baseline", file)
    assert done.returncode == 0, done.stdout


def test_what_an_allocator_does_by_the_clock_is_named_and_no_change(by_clock):
    file, said = by_clock
    made = json.loads(file.read_text())
    check_schema(made, "baseline")
    assert "calloc_loop 1 MiB touch 0 main, zeroed_bytes" in made["by_the_clock"], "a racing clock brings it out"
    assert "depends on the clock" in said
    check_beside_neighbours("planted_by_clock", file)


def test_what_goes_by_a_clock_that_cannot_be_stopped_is_not_compared(tmp_path):
    file = tmp_path / "mine.json"
    done = zerotax("bless", "--allocator", f"mine={library('planted_by_counter')}", "--baseline", file)
    assert done.returncode == 0, done.stderr
    points = json.loads(file.read_text())["points"]
    assert any(point["zeroed_bytes"] == {"na": "depends on a clock that cannot be stopped"} for point in points)
    check_beside_neighbours("planted_by_counter", file)


def test_a_baseline_of_the_real_clock_is_still_held_against(by_clock, tmp_path):
    """As they were written before the clock was stopped: calloc purged because the machine was slow that day."""
    file = tmp_path / "mine.json"
    word = f"mine={library('planted_by_clock')}"
    old = json.loads(by_clock[0].read_text())
    del old["conditions"], old["by_the_clock"]
    for point in old["points"]:
        point["zeroed_bytes"] = point["redundant_zeroed_bytes"] = 0
        point["calloc_syscalls"] = {"madvise": 1}
    file.write_text(json.dumps(old))
    done = zerotax("check", "--allocator", word, "--baseline", file)
    assert "not compared, depends on the clock: calloc_loop 1 MiB touch 0 main, calloc_syscalls" in done.stdout
    assert "zeroed_method" in done.stdout and done.returncode == 1, "what no clock explains is still a change"


def test_a_version_without_a_baseline_is_told_how_to_make_one(tmp_path):
    done = zerotax("check", "--allocator", "glibc", "--baseline", tmp_path)
    assert done.returncode == 3
    assert "no baseline for glibc" in done.stderr and "zerotax bless" in done.stderr


def test_what_is_no_baseline_is_refused(tmp_path):
    file = tmp_path / "b.json"
    for text in ("[]", "{}", "{", '{"schema": "zerotax.baseline/2", "points": [], "thresholds": []}'):
        file.write_text(text)
        done = zerotax("check", "--allocator", "glibc", "--baseline", file)
        assert done.returncode == 2, text
        assert len(done.stderr.splitlines()) == 1
        assert file.read_text() == text


@pytest.mark.parametrize("allocator", sorted(BASELINES.glob("*.json")), ids=lambda path: path.stem)
def test_every_committed_baseline_is_valid(allocator):
    check_schema(json.loads(allocator.read_text()), "baseline")
