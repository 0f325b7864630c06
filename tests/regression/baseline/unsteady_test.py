"""Allocators that act by chance, by load or by thread timing. bless reports such behavior, and check gives no alarm
until a value lies outside of the range that was seen. tests/stress/check_alarms.py measures the rates.
"""
import json

import pytest
from conftest import PLANTED, check_schema, mostly_long, zerotax

SMALL = ("--size", "64KiB")


def word(name):
    return f"mine={PLANTED / 'unsteady' / f'lib{name}.so'}"


@pytest.fixture(scope="module")
def blessed(tmp_path_factory):
    """Returns the baseline of an unsteady allocator, and the output of bless. Both are made once."""
    folder = tmp_path_factory.mktemp("unsteady")
    made = {}

    def bless(name, *more):
        if name not in made:
            file = folder / f"{name}.json"
            done = zerotax("bless", "--allocator", word(name), "--baseline", file, *SMALL, *more)
            assert done.returncode == 0, done.stderr
            made[name] = file, done.stdout
        return made[name]
    return bless


def check(name, file, *more, **environment):
    return zerotax("check", "--full", "--allocator", word(name), "--baseline", file, *more, **environment)


@pytest.mark.parametrize("name", mostly_long(["call", "amount", "often"], ["call"], "another source of chance"))
def test_what_goes_by_chance_is_named_kept_as_a_range_and_no_alarm(blessed, name):
    file, said = blessed(name)
    made = json.loads(file.read_text())
    check_schema(made, "baseline")
    assert made["ranges"], "drawn in every call: some run differs"
    assert "not the same each time: the baseline keeps the range" in said
    done = check(name, file)
    assert done.returncode == 0, done.stdout


@pytest.mark.long("twenty recordings")
@pytest.mark.parametrize("how", ["free", "beyond"])
def test_what_lies_outside_of_the_range_is_an_alarm(blessed, how, tmp_path):
    file, _ = blessed("call")
    report = tmp_path / "check.json"
    done = check("call", file, "--json", report, UNSTEADY_REGRESSED=how)
    assert done.returncode == 1 and done.stdout.startswith("worse: "), done.stdout
    document = json.loads(report.read_text())
    check_schema(document, "check")
    changed = {change["metric"] for change in document["checks"][0]["changes"]}
    assert ("zeroed_in_free_bytes" if how == "free" else "zeroed_bytes") in changed
    if how == "beyond":
        assert any("range" in change and change["after"] > change["range"]["high"]
                   for change in document["checks"][0]["changes"] if change["metric"] == "zeroed_bytes")


@pytest.mark.long("searches of thresholds, several times")
def test_a_threshold_that_means_something_else_each_time_is_uncertain_and_neither_new_nor_gone(blessed):
    file, said = blessed("from_1_mib", "--thresholds")
    made = json.loads(file.read_text())
    check_schema(made, "baseline")
    assert "uncertain, seen in " in said
    assert any(each["from_bytes"] <= 1 << 20 <= each["to_bytes"] for each in made["uncertain_thresholds"])
    done = check("from_1_mib", file, "--explain")
    assert done.returncode == 0, done.stdout
    assert "not compared, uncertain in the baseline: a threshold " in done.stdout
