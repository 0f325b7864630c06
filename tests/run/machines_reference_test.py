"""The committed comparison of kernels: bytes zeroed are the same on all of them."""

import json

from conftest import SOURCE, check_schema

MACHINES = SOURCE / "results" / "reference" / "machines.json"


def test_zeroed_bytes_are_exact_under_every_kernel_and_what_is_missing_has_a_reason():
    document = json.loads(MACHINES.read_text())
    check_schema(document, "machines")
    assert [(machine["release"], machine["user"]) for machine in document["machines"]] == [
        (release, user) for release in ("bullseye", "bookworm", "trixie", "sid") for user in ("root", "nobody")]
    for machine in document["machines"]:
        assert machine["promises"].get("broken", 0) == 0
        for metric, row in machine["figures"].items():
            if metric in ("zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes"):
                assert (row["na"], row["differs"]) == (0, 0), (machine["kernel"], metric)
            assert row["na"] == 0 or row["reasons"], (machine["kernel"], metric)
