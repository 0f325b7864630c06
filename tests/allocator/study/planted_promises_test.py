"""Broken promises, evidence and purges are not confused with similar behavior."""

import json

from conftest import MIB, PAGE, measure, options, planted, point_of, watches_inline_stores, zerotax

SIZES = [64 << 10, MIB, 4 * MIB]


def test_a_block_that_is_aligned_to_eight_bytes_is_a_violation():
    run = measure(*planted("planted_misaligned"), *options("size", SIZES), "--ops", 4, status=1)
    for size in SIZES:
        point = point_of(run, "planted_misaligned", size_bytes=size)
        assert point["status"] == "misaligned"
        assert point["reason"] == "calloc handed out a block aligned to 8 bytes where 16 are required, operation 1"
        assert point["violations"] == ["misaligned"]


def test_a_misaligned_block_is_a_finding_of_high_severity(tmp_path):
    zerotax("run", *planted("planted_misaligned"), "--size", MIB, "--ops", 4, "--out", tmp_path / "run")
    done = zerotax("findings", tmp_path / "run", "--json", tmp_path / "findings.json")
    assert done.returncode == 1
    found = json.loads((tmp_path / "findings.json").read_text())["findings"]
    assert [(each["rule"], each["severity"]) for each in found] == [("misaligned", "high")]


def test_one_store_of_eight_bytes_is_an_upper_bound_and_no_finding(tmp_path):
    run = measure(*planted("planted_one_store"), *options("size", [32 << 10, MIB]), "--ops", 4,
                  "--out", tmp_path / "run")
    for point in run["points"]:
        if not watches_inline_stores(run):
            continue
        assert (point["zeroed_bytes"], point["redundant_zeroed_bytes"]) == (PAGE, PAGE)
        assert point["zeroed_bound"] == "at most"
        assert {entry["zeroed_bound"] for entry in point["first_ops"]} == {"at most"}
    done = zerotax("findings", tmp_path / "run")
    assert done.returncode == 0, done.stdout


def test_faults_that_copy_after_a_fork_are_no_purge(tmp_path):
    zerotax("run", *planted("planted_forks", "planted_free_purges"), "--size", MIB, "--touch", 1, "--ops", 8,
            "--out", tmp_path / "run")
    done = zerotax("findings", tmp_path / "run", "--json", tmp_path / "findings.json")
    found = [(each["allocator"], each["rule"])
             for each in json.loads((tmp_path / "findings.json").read_text())["findings"]]
    assert ("planted_forks", "purge-storm") not in found, done.stdout
    assert ("planted_free_purges", "purge-storm") in found, done.stdout
    point = next(json.loads(line) for line in (tmp_path / "run" / "points.jsonl").read_text().splitlines()
                 if json.loads(line)["allocator"] == "planted_forks")
    assert point["touch_faults"] >= MIB // PAGE and point["touch_populated_bytes"] == 0
