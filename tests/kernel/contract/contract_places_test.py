"""The promises under other users, C libraries, emulators and kernels. The broken promises are those that the
documentation names.
"""

import json

import environments
import pytest
from conftest import BUILD, SOURCE, check_schema

pytestmark = pytest.mark.skipif(not environments.SUITE.exists(), reason="this build has no static C library")
REFERENCE = SOURCE / "results" / "reference" / "contract"
# Promises that every Linux and every imitation of Linux must keep.
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
    # The reference has the broken promises of these versions of emulators and kernels. Other versions may break other
    # promises.
    assert broken == {row["id"] for row in said["promises"] if row["verdict"] == "broken"}
    assert {verdicts[promise] for promise in LEAST} == {"kept"}
    if found["tested_on"]["kernel"] == said["tested_on"]["kernel"]:
        # On the same kernel, a kept promise may only become untestable, for lack of a setting, a permission or a
        # device.
        kept = {row["id"] for row in said["promises"] if row["verdict"] == "kept"}
        assert {verdicts[promise] for promise in kept} <= {"kept", "not testable here"}


def test_every_place_of_the_page_is_one_of_these():
    assert set(json.loads((REFERENCE / "places.json").read_text())) == set(environments.PLACES)
    page = (SOURCE / "docs" / "contract.md").read_text()
    assert all(f"| `{name}` |" in page for name in environments.PLACES)


def test_the_suite_needs_nothing_of_the_build():
    """The suite needs no shared library and no interpreter, because it is copied to systems without other files."""
    assert b"/lib64/ld-linux" not in environments.SUITE.read_bytes() and (BUILD / "bin" / "zerotax-contract").exists()
