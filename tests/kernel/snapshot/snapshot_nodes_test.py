"""NUMA nodes of a snapshot's pages on a machine with two nodes: Debian's kernel in a virtual machine."""

import json

import pytest
from conftest import BUILD, check_schema
from virtual_machine import run_or_skip

PROGRAM = BUILD / "libexec" / "fork-snapshot"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="this build has no fork-snapshot")


@pytest.mark.long("a machine with two nodes under QEMU")
def test_the_pages_lie_where_the_placement_says():
    text = run_or_skip(
        "x86_64",
        # Huge pages are off, because a huge page cannot be distributed over nodes.
        "echo never > /sys/kernel/mm/transparent_hugepage/enabled\n"
        "/zerotax/bin/zerotax snapshot --sweep placement=same,apart,interleaved --size 8MiB --writers 1 --rounds 1 "
        "--alternative fork --timeout 300 --json /tmp/s.json >/dev/null\necho json-begins; cat /tmp/s.json; echo json-ends\n",
        {**{f"/zerotax/bin/{name}": BUILD / "bin" / name for name in ("zerotax", "bench-glibc")},
         "/zerotax/libexec/fork-snapshot": PROGRAM}, nodes=2, memory_mib=2048, timeout=900)
    document = json.loads(text.split("json-begins\n")[1].split("json-ends")[0])
    check_schema(document, "snapshot_sweep")
    assert document["axes"]["placement"] == ["same", "apart", "interleaved"]
    rows = {row["placement"]: row for row in document["rows"] if row["alternative"] == "fork"}
    assert {row["status"] for row in rows.values()} == {"ok"}, [row["reason"] for row in rows.values()]
    placed = {name: row["placed"] for name, row in rows.items()}
    assert placed["same"] == {"array": {"first": 1, "second": 0}, "destination": {"first": 1, "second": 0}}
    assert placed["apart"] == {"array": {"first": 1, "second": 0}, "destination": {"first": 0, "second": 1}}
    for shares in placed["interleaved"].values():
        assert shares["first"] == pytest.approx(0.5, abs=0.02) and shares["first"] + shares["second"] == 1
