"""The promises under other users, C libraries and emulators, and on another kernel: what is broken is what the page says."""

import json

import environments
import pytest
from conftest import BUILD, SOURCE, check_schema

pytestmark = pytest.mark.skipif(not environments.SUITE.exists(), reason="this build has no static C library")
REFERENCE = SOURCE / "results" / "reference" / "contract"
# What every Linux, and all that poses as one, must keep.
LEAST = {"mmap-fresh", "mmap-fixed", "brk-fresh", "dontneed", "dontneed-part", "mremap-grown", "fork-child-write", "zero-page"}


def verdicts_in(name):
    try:
        found = environments.document(name, 0.5)
    except environments.Missing as missing:
        pytest.skip(str(missing))
    check_schema(found, "contract")
    return found, {row["id"]: row["verdict"] for row in found["promises"]}


@pytest.mark.parametrize("name", environments.PLACES)
def test_what_is_broken_there_is_what_the_page_says(name):
    found, verdicts = verdicts_in(name)
    assert found["state"] == "complete" and len(verdicts) >= 80
    said = json.loads((REFERENCE / f"{name}.json").read_text())
    broken = {promise for promise, verdict in verdicts.items() if verdict == "broken"}
    # Of another version, another kernel, it may be something else; of those here it is not.
    assert broken == {row["id"] for row in said["promises"] if row["verdict"] == "broken"}
    assert {verdicts[promise] for promise in LEAST} == {"kept"}
    if found["tested_on"]["kernel"] == said["tested_on"]["kernel"]:
        # What needs a setting, a right or a device may not be testable here; what the kernel has, it has everywhere.
        kept = {row["id"] for row in said["promises"] if row["verdict"] == "kept"}
        assert {verdicts[promise] for promise in kept} <= {"kept", "not testable here"}


def test_every_place_of_the_page_is_one_of_these():
    assert set(json.loads((REFERENCE / "places.json").read_text())) == set(environments.PLACES)
    page = (SOURCE / "docs" / "contract.md").read_text()
    assert all(f"| `{name}` |" in page for name in environments.PLACES)


def test_the_suite_needs_nothing_of_the_build():
    """No shared library, no interpreter: it is copied to where nothing else is."""
    assert b"/lib64/ld-linux" not in environments.SUITE.read_bytes() and (BUILD / "bin" / "zerotax-contract").exists()
