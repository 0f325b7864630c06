"""`--thp` reports the memory that a process holds with and without huge pages, and the findings about it."""

import json

import pytest
from conftest import KIB, MIB, check_schema, huge_pages_setting, planted, zerotax

HUGE = 2 * MIB
WORDS = ["run", *planted("planted_huge"), "--size", 64 * KIB, "--touch", 1, "--ops", 6]


def held_with(tmp_path, when):
    """Returns a run's point and its file."""
    file = tmp_path / f"{when}.json"
    done = zerotax(*WORDS, "--thp", when, "--full", "--json", file)
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    check_schema(document, "run")
    [point] = document["points"]
    return point, file, done.stdout


def test_a_block_in_a_huge_page_of_its_own_holds_all_of_it(tmp_path):
    point, file, table = held_with(tmp_path, "madvise")
    held = point["held"]
    assert held["huge_bytes"] == HUGE
    # Apart from the block's pages, the memory held is the same with and without huge pages.
    assert held["bytes"] - held["without_huge_bytes"] == HUGE - 64 * KIB
    assert held["after_free_bytes"] - held["after_free_without_huge_bytes"] == HUGE - 64 * KIB
    assert point["touch_faults"] == 0   # steady state
    assert "memory held" in table and "in huge" in table
    found = json.loads(zerotax("findings", file, "--json", "-").stdout)
    check_schema(found, "findings")
    titles = {finding["id"]: finding["title"] for finding in found["findings"]}
    assert "1.94 MiB more" in titles["planted_huge-huge-page-zeroing-64KiB"]
    assert "1.94 MiB more" in titles["planted_huge-huge-pages-outlive-free-64KiB"]
    # The summary names this memory separately, because the summary's counts are of small pages.
    summary = " ".join(zerotax("findings", file, "--summary", "--full").stdout.split())
    assert "Counts are of pages of 4 KiB. Under planted_huge " in summary
    assert "with huge pages, a process with one block of 64 KiB holds 1.94 MiB more." in summary


def test_without_huge_pages_nothing_is_held_beyond_the_block(tmp_path):
    point, file, _ = held_with(tmp_path, "never")
    held = point["held"]
    assert held["huge_bytes"] == 0 and held["bytes"] == held["without_huge_bytes"]
    found = json.loads(zerotax("findings", file, "--json", "-").stdout)["findings"]
    assert not [finding for finding in found if "huge" in finding["rule"]]
    summary = " ".join(zerotax("findings", file, "--summary", "--full").stdout.split())
    assert "With huge pages, no process holds much more memory." in summary


def test_bytes_zeroed_are_those_of_small_pages_whatever_the_huge_ones(tmp_path):
    point, _, _ = held_with(tmp_path, "madvise")
    plain, _, _ = held_with(tmp_path, "never")
    for key in ("zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "returned_bytes"):
        assert point[key] == plain[key]
    assert point["zeroed_bytes"] == 64 * KIB and point["first_ops"][0]["populated_bytes"] == 0


def test_without_the_option_no_memory_is_measured():
    done = zerotax(*WORDS, "--json", "-")
    assert "held" not in json.loads(done.stdout)["points"][0]


@pytest.mark.skipif(huge_pages_setting() == "always", reason="this system grants them always")
def test_more_than_the_system_grants_says_where_to_have_it():
    done = zerotax(*WORDS, "--thp", "always")
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    assert f"the system's setting is '{huge_pages_setting()}'" in done.stderr and "--on vm:trixie,thp=always" in done.stderr


def test_a_run_is_resumed_with_its_huge_pages(tmp_path):
    folder = tmp_path / "run"
    if zerotax(*WORDS, "--thp", "never", "--out", folder).returncode == 3:
        pytest.skip("no huge pages")
    plan = json.loads((folder / "plan.json").read_text())
    check_schema(plan, "plan")
    assert plan["thp"] == "never"
    lines = (folder / "points.jsonl").read_text().splitlines()
    (folder / "points.jsonl").write_text("")
    done = zerotax("run", "--resume", folder)
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "points.jsonl").read_text())["held"] == json.loads(lines[0])["held"]
    done = zerotax("run", "--resume", folder, "--thp", "madvise")
    assert done.returncode == 2 and "--thp" in done.stderr
