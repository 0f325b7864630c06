"""In the committed comparison of kernels, every metric has the same value on all kernels."""

import json

from conftest import SOURCE, check_schema

MACHINES = SOURCE / "results" / "reference" / "machines.json"


def test_every_figure_is_exact_under_every_kernel():
    document = json.loads(MACHINES.read_text())
    check_schema(document, "machines")
    assert [(machine["release"], machine["user"]) for machine in document["machines"]] == [
        (release, user) for release in ("bullseye", "bookworm", "trixie", "sid") for user in ("root", "nobody")]
    for machine in document["machines"]:
        assert machine["promises"].get("broken", 0) == 0
        for metric, row in machine["figures"].items():
            assert (row["na"], row["differs"]) == (0, 0), (machine["kernel"], metric)
