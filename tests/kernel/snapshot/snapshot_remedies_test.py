"""`zerotax snapshot --remedies`: the exact number of faults left after the child's end, and the thread that takes them
instead. Only alternatives that were found better are recommended.
"""

import json
import os

import pytest
from conftest import BUILD, MIB, PAGE, check_schema, is_na, zerotax

ARRAY = 8 * MIB
PAGES = ARRAY // PAGE
REMEDIES = {"fork_populate": "fork", "fork_touch": "fork", "fork_collapse": "fork", "munmap_populate": "fork_munmap"}
# Maximum of the threads' faults outside the array: on their stacks, and on memory that threads share.
ELSEWHERE = 32
# Upper bound of pages that are copied although no process shares them: pages on other CPUs' lists (docs/cow.md).
HELD_ELSEWHERE = 31 * (os.cpu_count() or 1)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="every fault is root's to see")
pytestmark = pytest.mark.skipif(not (BUILD / "libexec" / "fork-snapshot").exists(), reason="this build has no fork-snapshot")


def snapshot(*arguments):
    done = zerotax("snapshot", "--size", ARRAY, "--writers", 1, "--rounds", 1, *arguments, "--json", "-")
    assert done.returncode == 0, done.stderr or done.stdout[:2000]
    document = json.loads(done.stdout)
    check_schema(document, "snapshot")
    return document


@pytest.fixture(scope="module")
def remedies():
    return snapshot("--remedies", "--hold", 1)


def result_of(document, name):
    [found] = [result for result in document["results"] if result["alternative"] == name]
    if found["status"] == "skipped":
        pytest.skip(found["reason"])
    assert found["status"] == "ok", found["reason"]
    return found


def copied_and_reused(part):
    return part["copies"] + part["reuses"]


@as_root
@pytest.mark.parametrize("name", ["fork", "fork_munmap", "fork_mprotect"])
def test_without_a_remedy_that_helps_the_writer_takes_one_fault_for_each_page(remedies, name):
    result = result_of(remedies, name)
    for figure in ("faults", "faults_held"):
        after = result[figure]["after_end"]
        assert copied_and_reused(after) == PAGES and after["copies"] <= HELD_ELSEWHERE
        assert copied_and_reused(result[figure]["before_end"]) == 0


@as_root
@pytest.mark.parametrize("name", REMEDIES)
def test_with_a_remedy_the_writer_takes_none(remedies, name):
    result = result_of(remedies, name)
    for figure in ("faults", "faults_held"):
        for part in ("before_end", "after_end"):
            assert copied_and_reused(result[figure][part]) == 0
        assert result[figure]["traced"] == result[figure]["counted"]


@pytest.mark.parametrize("name", REMEDIES)
def test_the_kernels_own_count_says_the_same(remedies, name):
    faults = {each: result_of(remedies, each)["after_end"]["writers_faults"]["median"] for each in (name, REMEDIES[name])}
    assert PAGES <= faults[REMEDIES[name]] <= PAGES + ELSEWHERE
    assert faults[name] <= ELSEWHERE


@pytest.mark.parametrize("name", ["fork_populate", "fork_touch", "munmap_populate"])
def test_the_helper_takes_what_the_writer_is_spared(remedies, name):
    helper = result_of(remedies, name)["after_end"]["helper"]
    assert PAGES <= helper["faults"]["median"] <= PAGES + ELSEWHERE
    assert helper["failed_bytes"]["median"] == 0


@as_root
def test_a_bulk_call_takes_no_exception_and_a_touch_takes_one_for_each_page(remedies):
    for name in ("fork_populate", "munmap_populate", "fork_collapse"):
        assert copied_and_reused(result_of(remedies, name)["faults_held"]["helper"]) == 0
    assert copied_and_reused(result_of(remedies, "fork_touch")["faults_held"]["helper"]) == PAGES
    assert is_na(result_of(remedies, "fork")["faults_held"]["helper"])


def test_collapsed_pages_are_no_faults_at_all(remedies):
    result = result_of(remedies, "fork_collapse")
    failed = result["after_end"]["helper"]["failed_bytes"]["median"]
    assert failed % (2 * MIB) == 0
    assert result["after_end"]["helper"]["faults"]["median"] <= failed // PAGE + ELSEWHERE


def test_the_verdict_is_of_those_counts(remedies):
    for name, of in REMEDIES.items():
        remedy = result_of(remedies, name)["remedy"]
        assert (remedy["of"], remedy["effect"]) == (of, "removes")
        cpu = remedy["writers_cpu_ns"]
        assert remedy["saved_ns"] == pytest.approx(cpu["without"] - cpu["with"] - remedy["helper_cpu_ns"])
        assert remedy["sentence"].startswith(f"{name} removes the faults: ")
    none = result_of(remedies, "fork_mprotect")["remedy"]
    assert none["effect"] == "none" and "does not help" in none["sentence"]
    assert is_na(result_of(remedies, "fork")["remedy"]) and is_na(result_of(remedies, "none")["after_end"])
    [advice] = remedies["advice"]
    assert advice["instead_of"] == "fork" and advice["no_faults_after_end"] in REMEDIES


@as_root
def test_batches_that_the_child_has_unmapped_are_writable_while_it_lives():
    document = snapshot("--alternative", "munmap_populate", "--alternative", "fork_munmap", "--hold", 0.5)
    before = result_of(document, "munmap_populate")["faults"]["before_end"]
    assert PAGES // 2 <= before["copies"] <= PAGES // 2 + HELD_ELSEWHERE and before["reuses"] == 0
    before = result_of(document, "fork_munmap")["faults"]["before_end"]
    assert copied_and_reused(before) == PAGES and before["reuses"] > 0


@pytest.mark.parametrize("alternatives", [["fork"], ["none", "fork"], ["fork_munmap"]], ids=" ".join)
def test_alone_an_alternative_is_not_recommended(alternatives):
    words = [word for name in alternatives for word in ("--alternative", name)]
    done = zerotax("snapshot", "--full", "--size", "4MiB", "--rounds", 1, *words)
    assert done.returncode == 0, done.stderr
    name = alternatives[-1]
    answer = done.stdout.split("How to avoid it?\n")[1]
    assert f"- Nothing that was measured is clearly better than {name}." in answer
    assert "\n      zerotax snapshot --size 4MiB\n" in answer and "\n      zerotax snapshot --size 4MiB --remedies\n" in answer
    assert "time for the writers" not in answer and "shortest stop" not in answer


def test_a_remedy_alone_says_what_it_lacks_to_be_judged():
    document = snapshot("--alternative", "fork_touch")
    assert result_of(document, "fork_touch")["remedy"]["na"] == "the alternative fork was not measured"


def test_the_table_has_what_is_left_and_who_takes_it(remedies, tmp_path):
    (tmp_path / "remedies.json").write_text(json.dumps(remedies))
    done = zerotax("snapshot", "--full", "--read", tmp_path / "remedies.json")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    rows = lines[lines.index("All writes after the child's end:") + 3:]
    assert [row.split()[0] for row in rows[:7]] == [
        "fork", "fork_collapse", "fork_mprotect", "fork_populate", "fork_touch", "fork_munmap", "munmap_populate"]
    assert "What helps after the child's end?" in lines
