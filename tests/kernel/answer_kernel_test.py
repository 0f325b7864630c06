"""`zerotax fork`, `snapshot`, `contract` and `doctor` answer on one screen. With --full, each command prints every
table after its headline.
"""

import json
import os
import shutil

import pytest

from answers import check_screen
from conftest import BUILD, NOBODY, SOURCE, skip_if_unreadable, zerotax

pytestmark = pytest.mark.timeout(300)
REFERENCE = SOURCE / "results" / "reference"
LIAR = {"ZEROTAX_CONTRACT_SUITE": str(BUILD / "tests" / "contract-liar"), "ZEROTAX_CONTRACT_LIE": "dontneed-nothing"}


def answer(*words, headline, status=0, **how):
    """Returns the text of an answer, after checking that its first line contains the headline."""
    done = zerotax(*words, timeout=250, NO_COLOR="1", **how)
    assert done.returncode == status, done.stderr
    lines = done.stdout.splitlines()
    check_screen(lines)
    assert headline in lines[0], lines[0]
    assert lines[-1].endswith(": --full")
    return done.stdout


def full(*words, headline, tables, status=0, **how):
    done = zerotax(*words, "--full", timeout=250, **how)
    assert done.returncode == status, done.stderr
    assert headline in done.stdout.splitlines()[0]
    for table in tables:
        assert done.stdout.count(table) == 1, (table, done.stdout)


def edited(tmp_path, name, change):
    document = json.loads((REFERENCE / name).read_text())
    change(document)
    (tmp_path / name).write_text(json.dumps(document))
    return tmp_path / name


def test_fork_says_what_costs_where_and_how_sure_it_is():
    text = answer("fork", "--read", REFERENCE / "fork.json", headline="fork takes 24.9 µs")
    for part in ("each populated page of 4 KiB        45 ns       41 ns to 48 ns        11.8 ms\n", '"page tables" takes 32.2 ms',
                 "Try:   start programs by vfork (10.4 µs) or posix_spawn", "! 1 GiB: the median fork took", "within 43.2 %"):
        assert part in text, text
    costs = [line.split()[0] for line in text.split("\n\n")[1].splitlines()[1:3]]
    assert costs == ["each", "fixed"], "the largest part of a large process comes first"
    full("fork", "--read", REFERENCE / "fork.json", headline="fork takes 24.9 µs",
         tables=("where fork's time goes", "phases, by tracepoints", "cost of fork for each resource of the process"))


def test_fork_without_samples_or_model_says_why(tmp_path):
    def unseen(document):
        for process in document["processes"]:
            process.update(samples={"na": "the kernel hides itself"}, memory_share={"na": "no samples"})
    text = answer("fork", "--read", edited(tmp_path, "fork.json", unseen), headline="fork takes")
    assert "copying the address space, which CLONE_VM saves, takes 100.0 %" in text
    assert "unknown: the kernel hides itself." in text

    def stopped(document):
        document.update(model={"na": "interrupted"}, shared_page_tables={"na": "interrupted"}, complete=False)
    text = answer("fork", "--read", edited(tmp_path, "fork.json", stopped), headline="is unknown: interrupted.")
    assert "! The run was stopped early" in text


@pytest.mark.parametrize("name", ["snapshot", "snapshot_published", "snapshot_remedies"])
def test_snapshot_says_what_costs_and_what_is_better(name):
    text = answer("snapshot", "--read", REFERENCE / f"{name}.json", headline="A snapshot of ")
    slowdowns = [float(line.split()[1]) for line in text.split("\n\n")[1].splitlines()[1:] if " B" in line or "iB" in line]
    assert len(slowdowns) >= 3 and slowdowns == sorted(slowdowns, reverse=True)
    assert "the kernel copies" in text.replace("\n", " ") and "Where: " in text and "Try:   least " in text
    contradiction = "! Runs of the same contradict each other" in text
    assert contradiction is (json.loads((REFERENCE / f"{name}.json").read_text())["contradiction"] is not None)
    full("snapshot", "--read", REFERENCE / f"{name}.json", headline="A snapshot of ",
         tables=("\nglibc 2.36\n", "Is it copying?", "How to avoid it?"))


@pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "nobody"])
def test_snapshot_of_two_allocators_names_both(prefix):
    if prefix and os.geteuid() != 0:
        pytest.skip("only root can become nobody")
    if prefix:
        skip_if_unreadable()
    names = ("none", "fork", "uffd_wp")
    text = answer("snapshot", "--size", "4MiB", "--rounds", 1, "--allocator", "glibc", "--allocator", "jemalloc",
                  *(word for name in names for word in ("--alternative", name)), headline="A snapshot of 4 MiB", prefix=prefix)
    assert "\nallocator alternative" in text and "\nglibc " in text and "\njemalloc " in text


def test_a_failed_snapshot_is_the_first_warning():
    words = ("--alternative", "planted_killed", "--alternative", "none", "--alternative", "planted_skipped")
    text = answer("snapshot", "--size", "1MiB", "--batch", "1MiB", "--rounds", 1, *words, headline="A snapshot of 1 MiB",
                  status=1)
    failed, skipped = "! planted_killed under glibc: failed: ", "! planted_skipped under glibc: skipped: it never can."
    assert text.index(failed) < text.index(skipped)


def test_a_sweep_shows_its_slowest_rows_first():
    text = answer("snapshot", "--sweep", "writers=1,2,28", "--sweep", "size=2MiB,4MiB,8MiB", "--rounds", 1,
                  headline="The copy is always done")
    assert "more rows\n" in text and "Where: published" in text
    assert "zerotax snapshot --size " in text and "copied first: " in text


def test_contract_shows_only_promises_that_are_not_known_to_be_kept():
    text = answer("contract", "--promise", "dontneed", "--promise", "soft-dirty", headline="No promise of 2 is broken: ")
    assert "tests ran on Linux" in text.replace("\n", " ") and "\nn/a     soft-dirty " in text or "2 kept" in text
    assert "\nkept " not in text
    full("contract", "--promise", "dontneed", "--promise", "mmap-fresh", headline="No promise of 2",
         tables=("\nMADV_DONTNEED\n", "\nmapping\n"))


def test_contract_names_a_broken_promise_and_writes_a_report_on_request():
    if shutil.which("cc") is None:
        pytest.skip("no compiler")
    words = ("contract", "--promise", "dontneed", "--promise", "mmap-fresh")
    text = answer(*words, headline="1 of 2 promises is broken; ", status=1, **LIAR)
    for part in ("\nbroken  dontneed ", "Where: dontneed is broken: ", "the test read a5 a5",
                 "zerotax contract --promise dontneed --report contract-reports"):
        assert part in text, text
    full(*words, headline="1 of 2 promises is broken; ", tables=("\nMADV_DONTNEED\n", "int main"), status=1, **LIAR)


def doctor(*words, **how):
    done = zerotax("doctor", *words, NO_COLOR="1", **how)
    document = json.loads(zerotax("doctor", "--json", "-", **how).stdout)
    return done, document["rows"]


@pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "nobody"])
def test_doctor_shows_the_gravest_rows_first(prefix):
    if prefix and os.geteuid() != 0:
        pytest.skip("only root can become nobody")
    if prefix:
        skip_if_unreadable()
    done, rows = doctor(prefix=prefix, MALLOC_CONF="retain:false")
    check_screen(done.stdout.splitlines())
    assert "on this machine would spoil a run: " in done.stdout or "This machine cannot measure: " in done.stdout
    table = done.stdout.replace("\n\n", "\n").split("\neffect check")[1].split("\nWhere: ")[0].splitlines()[1:]
    found = [line.split()[0] for line in table if not line.startswith("and ")]
    assert found and found == sorted(found, key=["stops", "spoils", "limits"].index)
    assert f"All {len(rows)} checks with their effects and remedies: --full" in done.stdout
    assert "Where: " in done.stdout and "Try:   for " in done.stdout


def test_a_machine_without_trouble_is_ready_for_a_study(tmp_path):
    done, _ = doctor("--root", tmp_path)
    check_screen(done.stdout.splitlines())
    everything = zerotax("doctor", "--full", "--root", tmp_path).stdout
    assert everything.splitlines()[0] == done.stdout.splitlines()[0]
    for heading in ("CPU and load", "memory", "what is permitted"):
        assert everything.count(f"\n{heading}\n") == 1
    if done.returncode == 0:
        assert "This machine is ready" in done.stdout and "Try:   zerotax study\n" in done.stdout
