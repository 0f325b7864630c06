"""A child of fork that neither allocates nor populates memory has no row of its own, and the counts stay true."""
import functools
import os
import pathlib
import subprocess

import pytest
from conftest import MIB, NOBODY, is_na
from outside import open_folder, root_only
from record_forks_test import recorded

CHILDREN = 20
FILLED = 16 * MIB
PAGES = FILLED // 4096
# Maximum faults of a child that does nothing: the child copies its stack and data, and maps pages of code.
FEW = 128
# A program's own start populates a page more or less, as the addresses of its stack fall.
START = 4 * 4096

pytestmark = pytest.mark.skipif(os.sysconf("SC_PAGESIZE") != 4096, reason="the program counts pages of 4 KiB")


@pytest.fixture(scope="module", name="holds")
def holds_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("quiet") / "holds"
    subprocess.run(["gcc", "-g", "-O1", "-o", program, pathlib.Path(__file__).parent / "forks/holds.c"], check=True, timeout=60)

    @functools.cache
    def run(way):
        return recorded(program, way)[0]
    return run


def kernel(document):
    return document["totals"]["kernel"]


def other_faults(document):
    return kernel(document)["minor_faults"] - kernel(document)["zero_fill_faults"]


def check_filled(document):
    """Checks that each child has a row with exactly the memory that it filled."""
    rows = [(row["began"], row["kernel"]["zeroed_bytes"], row["kernel"]["zero_fill_faults"]) for row in document["processes"][1:]]
    assert rows == [("fork", FILLED, PAGES)] * CHILDREN


def test_quiet_children_have_no_rows_and_add_no_bytes(holds):
    document = holds("quiet")
    assert [process.get("quiet_children") for process in document["processes"]] == [CHILDREN] and document["not_followed"] == []
    assert document["forks"]["processes"] == document["forks"]["sites"][0]["calls"] == CHILDREN
    assert abs(kernel(document)["zeroed_bytes"] - kernel(holds("none"))["zeroed_bytes"]) <= START
    assert CHILDREN <= other_faults(document) - other_faults(holds("none")) <= CHILDREN * FEW


def test_memory_that_a_child_fills_counts_in_a_row_of_the_child(holds):
    document = holds("fills")
    check_filled(document)
    others = kernel(holds("quiet"))["zeroed_bytes"]
    assert kernel(document)["zeroed_bytes"] - others == pytest.approx(CHILDREN * FILLED, abs=START)


def test_pages_that_a_child_copies_are_not_zeroed(holds):
    document = holds("copies")
    assert len(document["processes"]) == 1 + CHILDREN
    assert abs(kernel(document)["zeroed_bytes"] - kernel(holds("quiet"))["zeroed_bytes"]) <= START
    assert CHILDREN * PAGES <= other_faults(document) - other_faults(holds("none")) <= CHILDREN * (PAGES + FEW)


@pytest.mark.parametrize("way", ["execs", "fails"])
def test_a_child_that_executes_a_program_needs_no_row(holds, way):
    document = holds(way)
    began = [process["began"] for process in document["processes"]]
    assert began == ["exec"] * (1 + (CHILDREN if way == "execs" else 0)) and document["not_followed"] == []
    assert document["forks"]["sites"][0]["execs"] == (CHILDREN if way == "execs" else 0)
    own = document["processes"][0]["kernel"]["zeroed_bytes"]
    assert abs(own - kernel(holds("none"))["zeroed_bytes"]) <= START


@root_only
def test_a_killed_child_leaves_bounds(holds):
    totals = kernel(holds("killed"))
    least = kernel(holds("none"))["zeroed_bytes"]
    assert is_na(totals["zeroed_bytes"]) and "was killed, or still runs" in totals["zeroed_bytes"]["na"]
    assert abs(totals["zeroed_at_least_bytes"] - least) <= START
    assert totals["zeroed_at_least_bytes"] <= totals["zeroed_at_most_bytes"] <= least + FILLED


@root_only
def test_an_ordinary_user_gets_the_same_rows():
    with open_folder() as folder:
        program = folder / "holds"
        subprocess.run(["gcc", "-O1", "-o", program, pathlib.Path(__file__).parent / "forks/holds.c"], check=True, timeout=60)
        program.chmod(0o755)
        check_filled(recorded(program, "fills", prefix=NOBODY)[0])
        document, _ = recorded(program, "quiet", prefix=NOBODY)
        assert len(document["processes"]) == 1 and document["not_followed"] == []
