"""Every promise's test can fail. Under a kernel that tells one lie at a time, each lie is caught, and no other promise
is reported as broken.
"""

import json
import subprocess

import pytest
from conftest import BUILD, SOURCE

LIAR = BUILD / "tests" / "contract-liar"
pytestmark = pytest.mark.skipif(not LIAR.exists(), reason="this build has no static C library")


def lines(*arguments):
    return subprocess.run([LIAR, *arguments], capture_output=True, text=True, check=False, timeout=300).stdout.splitlines()


def lies():
    """Each lie, with all promises that rest on the call that lies."""
    if not LIAR.exists():
        return []
    return [pytest.param(name, set(breaks.split()), id=name) for name, breaks, _ in
            (line.split("\t") for line in lines("--lies"))]


def broken(*arguments):
    found = [row for row in map(json.loads, lines("--json", *arguments)) if "id" in row]
    assert found
    return {row["id"]: row for row in found if row["verdict"] == "broken"}


@pytest.mark.parametrize(("lie", "breaks"), lies())
def test_a_lie_is_caught_and_nothing_else_accused(lie, breaks):
    found = broken("--lie", lie, "--seconds", "0.01")
    races = {name for name in breaks if name.endswith("-race")}
    # A race may find the lie in any of its 10,000 tries, so the time limit here allows all tries.
    for race in races:
        assert race in broken("--lie", lie, "--only", race, "--seconds", "100"), race
    assert set(found) - races == breaks - races
    for row in found.values():
        assert row["detail"] and ("found" in row or "program" in row)


def test_every_promise_has_a_lie():
    promises = {json.loads(line)["id"] for line in lines("--list", "--json")}
    assert promises == set().union(*(param.values[1] for param in lies()))


def test_without_a_lie_the_same_build_accuses_nobody():
    assert broken("--seconds", "0.01") == {}


def test_the_page_has_every_lie():
    page = (SOURCE / "harness/kernel/contract/PROMISES.md").read_text()
    for _, breaks, what in (line.split("\t") for line in lines("--lies")):
        assert f"| {what} | {', '.join(f'`{name}`' for name in breaks.split())} |" in page
