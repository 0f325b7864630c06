"""zerotax bless and zerotax check: a change of behaviour is found, named, and can be accepted."""
import json

import pytest
from conftest import SOURCE, check_schema, planted, zerotax

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
