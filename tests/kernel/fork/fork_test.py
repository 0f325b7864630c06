"""zerotax fork: sections, model and ways of a small run. Counts must be exact; times must only exist."""

import json
import os
import shutil

import pytest
from conftest import KIB, NOBODY, PAGE, check_schema, interrupt, is_na, skip_if_unreadable, zerotax

SMALL = ["fork", "--thorough", "--to", "64MiB", "--rounds", "1"]
SAMPLED = ["--seconds", "0.3"]
WAYS = ["fork", "vfork", "posix_spawn", "fork, huge pages", "fork, MAP_SHARED", "fork, MADV_DONTFORK"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    file = tmp_path_factory.mktemp("fork") / "fork.json"
    done = zerotax(*SMALL, *SAMPLED, "--full", "--json", file)
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    check_schema(document, "fork")
    return document, done.stdout


def places(document, sweep):
    model = document["model"]
    return [place for place in model["fit"] + model["held_back"] if place["sweep"] == sweep]


def test_the_smallest_process_is_small(small):
    facts = small[0]["processes"][0]["facts"]
    assert facts["pages"] < 32 and facts["huge_pages"] == 0 and facts["threads"] == 1


def test_each_process_of_the_sweep_has_what_was_asked_for(small):
    base = places(small[0], "base")[0]["facts"]
    for place in places(small[0], "pages"):
        asked = place["populated_bytes"] // PAGE
        # The beginnings of stack and heap are random, which adds or removes a few pages.
        assert abs(place["facts"]["pages"] - base["pages"] - asked) <= 3
    assert [place["facts"]["mappings"] - base["mappings"] for place in places(small[0], "mappings")] == [100, 300, 1000, 3000]
    assert [place["facts"]["descriptors"] - base["descriptors"] for place in places(small[0], "descriptors")] == \
        [64, 256, 1024, 4096]
    assert [place["facts"]["threads"] for place in places(small[0], "threads")] == [9, 33, 129]


def test_huge_pages_are_huge_where_there_are_any(small):
    for place in places(small[0], "huge"):
        if place["facts"]["huge_pages"] == 0:
            pytest.skip("no huge pages to be had")
        assert place["facts"]["huge_pages"] == place["populated_bytes"] >> 21


def table_pages(pages):
    return pages["parent_table_bytes"] // PAGE


@pytest.mark.skipif(os.geteuid() != 0, reason="tracepoints are root's")
def test_the_kernel_clears_as_many_pages_as_the_parent_has_page_tables(small):
    """Compares the pages by mm_page_alloc with the tables in VmPTE. mm_page_alloc also counts the topmost page table,
    of one or two pages. It also counts a kernel stack of four pages if no earlier child left a stack.
    """
    for process in small[0]["processes"]:
        pages = process["kernel_pages"]
        assert pages["lost"] == 0 and pages["forks"] == 20
        assert 0 <= pages["zeroed_pages"] - table_pages(pages) <= 6
        assert pages["pages"] >= pages["zeroed_pages"]
        by_order = pages["orders"]
        assert sum(each["pages"] * each["allocations"] for each in by_order) == round(pages["pages"] * pages["forks"])
        assert all(each["zeroed"] <= each["allocations"] for each in by_order)


@pytest.mark.skipif(os.geteuid() != 0, reason="tracepoints are root's")
def test_each_2_mib_of_small_pages_costs_a_page_table_that_is_cleared(small):
    base = places(small[0], "base")[0]["kernel_pages"]
    for place in places(small[0], "pages"):
        tables = place["populated_bytes"] >> 21
        pages = place["kernel_pages"]
        # Up to three more tables: a part of memory need not begin at a table's boundary, and may need a middle table.
        assert tables - 3 <= pages["zeroed_pages"] - base["zeroed_pages"] <= tables + 3
        # The kernel's choice of addresses for the stack and the libraries adds two or three tables.
        assert tables - 3 <= table_pages(pages) - table_pages(base) <= tables + 3


@pytest.mark.skipif(os.geteuid() != 0, reason="tracepoints are root's")
def test_phases_fill_the_whole_call_and_the_address_space_leads_in_a_large_process(small):
    for process in small[0]["processes"]:
        phases = process["phases"]
        assert phases["forks"] >= 20 and (phases["incomplete"], phases["lost"]) == (0, 0)
        assert sum(phase["share"] for phase in phases["phases"]) == pytest.approx(1)
        assert sum(phase["mean_ns"] for phase in phases["phases"]) == pytest.approx(phases["whole"]["mean_ns"])
        for phase in [phases["whole"], *phases["phases"]]:
            assert phase["low_ns"] <= phase["mean_ns"] <= phase["high_ns"]
        assert [phase["begins"] for phase in phases["phases"][1:]] == [phase["ends"] for phase in phases["phases"][:-1]]
    large = small[0]["processes"][-1]["phases"]["phases"]
    assert max(large, key=lambda phase: phase["mean_ns"])["name"] == "address space"


def test_a_section_with_few_samples_has_an_interval_and_never_0_ns(small):
    for process in small[0]["processes"]:
        if is_na(process["samples"]):
            continue
        for samples in process["samples"]:
            for part in (*samples["sections"], samples["clearing"]):
                assert part["low_ns"] <= part["ns"] <= part["high_ns"] and part["high_ns"] > 0
                assert part["text"].startswith("< ") == (part["samples"] < 10)
    assert " 0 ns" not in small[1]


def test_one_round_has_no_interval(small):
    assert all(is_na(term["low_ns"]) and is_na(term["high_ns"]) for term in small[0]["model"]["terms"])
    assert "n/a: one round shows no spread" in small[1]


def test_nothing_over_the_limit_is_populated(small):
    assert max(place["populated_bytes"] for place in places(small[0], "pages")) == 64 << 20
    assert small[0]["ways"]["populated_bytes"] == 64 << 20


def test_each_way_is_timed_and_the_child_is_gone_later(small):
    ways = {way["name"]: way for way in small[0]["ways"]["ways"]}
    assert set(ways) == set(WAYS)
    assert all(way["gone_ns"] > way["call_ns"] > 0 for way in ways.values())


def test_memory_that_fork_does_not_copy_costs_no_page_tables(small):
    """Compares the time of a fork with that of ways that skip copying. The ratio is about ten on most machines, but
    three on some virtual machines.
    """
    ways = {way["name"]: way["call_ns"] for way in small[0]["ways"]["ways"]}
    for way in ("vfork", "fork, MAP_SHARED", "fork, MADV_DONTFORK"):
        assert ways[way] < ways["fork"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may sample the kernel")
def test_sections_hold_every_sample_and_page_tables_lead_in_a_large_process(small):
    for process in small[0]["processes"]:
        for samples in process["samples"]:
            assert sum(section["samples"] for section in samples["sections"]) == samples["samples"] > 0
            assert samples["lost"] == 0
    forks, clones = small[0]["processes"][1]["samples"]
    assert (forks["shares_memory"], clones["shares_memory"]) == (False, True)
    share = {section["name"]: section["share"] for section in forks["sections"]}
    assert max(share, key=share.get) == "page tables" and share["page tables"] > 0.6
    # A clone that shares memory copies no page tables.
    counts = {section["name"]: section["samples"] for section in clones["sections"]}
    assert counts["page tables"] == counts["mappings"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may sample the kernel")
def test_the_rest_that_no_section_claims_is_small(small):
    """If a new kernel renames its functions, their samples count as the rest, and this test fails."""
    for process in small[0]["processes"]:
        share = {section["name"]: section["share"] for section in process["samples"][0]["sections"]}
        assert share["rest (signals, locks)"] < 0.25, process["name"]


def test_the_report_fits_into_80_columns_and_names_the_paper(small):
    _, text = small
    assert max(map(len, text.splitlines())) <= 80
    assert "procdup loop" in text or os.geteuid() != 0
    assert f"each populated page of {PAGE // KIB} KiB" in text


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None,
                    reason="only root, with setpriv, can become somebody else")
@pytest.mark.long("as another user")
def test_nobody_gets_everything_but_the_sections(tmp_path):
    skip_if_unreadable()
    done = zerotax("fork", "--to", "4MiB", "--rounds", "1", *SAMPLED, "--json", "-", prefix=NOBODY)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    check_schema(document, "fork")
    pages = document["processes"][0]["kernel_pages"]
    assert is_na(pages) and "root" in pages["na"]
    for process in document["processes"]:
        if not is_na(process["samples"]):
            pytest.skip("everybody may sample the kernel here")
        assert "perf_event_paranoid" in process["samples"]["na"]
        assert len(process["ablation"]) == 6
    assert not is_na(document["model"])


@pytest.mark.long("the whole measurement again")
def test_without_full_fewer_processes_are_measured_and_the_accuracy_is_said(tmp_path):
    done = zerotax("fork", "--to", "64MiB", "--rounds", "1", "--seconds", "0", "--full", "--json", tmp_path / "fork.json")
    document = json.loads((tmp_path / "fork.json").read_text())
    check_schema(document, "fork")
    assert document["full"] is False
    assert {place["sweep"] for place in document["model"]["fit"]} == {
        "base", "pages", "huge", "mappings", "descriptors", "threads"}
    terms = {term["key"]: term for term in document["model"]["terms"]}
    known = [key for key in terms if key != "huge_page"]
    assert not any(is_na(terms[key]["ns"]) for key in known), "two sizes of each quantity are enough for the model"
    assert len(document["model"]["fit"]) == 10 and len(document["model"]["held_back"]) == 1
    assert "Quick: 10 processes, 1 time each, predict 1 other" in " ".join(done.stdout.split())


def test_an_interrupt_keeps_what_was_measured_and_without_sampling_there_are_no_sections(tmp_path):
    out = tmp_path / "fork.json"
    output, _ = interrupt("fork", "--to", "256MiB", "--rounds", "50", "--seconds", "0", "--full", "--json", out, after_s=5)
    document = json.loads(out.read_text())
    check_schema(document, "fork")
    assert document["complete"] is False
    assert document["processes"] and all(is_na(process["samples"]) for process in document["processes"])
    assert "no sections" in output
    assert "what sharing by clone(2) saves" in output
