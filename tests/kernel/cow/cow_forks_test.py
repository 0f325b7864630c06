"""`zerotax cow` counts the forks, the page tables that they allocate, and the pages that fork itself copies."""
import json
import os
import pathlib
import subprocess

import pytest
from conftest import MIB, PAGE, ZEROTAX, check_schema, clean_environment, is_na

HERE = pathlib.Path(__file__).parent
# One page table maps as many pages as it has entries of 8 bytes.
TABLE_BYTES = PAGE // 8 * PAGE
COUNT = 4
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="root only")


@pytest.fixture(scope="module", name="pins")
def pins_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("pins") / "pins"
    subprocess.run(["gcc", "-O1", "-o", program, HERE / "pins.c"], check=True, timeout=60)
    return program


def watched(folder, *words, **environment):
    done = subprocess.run([ZEROTAX, "cow", "--json", folder / "cow.json", "--", *map(str, words)], timeout=60,
                          env=clean_environment(**environment), capture_output=True, text=True, check=False)
    if done.returncode == 7:
        pytest.skip("io_uring is not permitted here")
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "cow.json").read_text())
    check_schema(document, "cow")
    return document, " ".join(done.stderr.split())


@root_only
@pytest.mark.timeout(60)
def test_fork_copies_the_pages_that_a_device_holds(pins, tmp_path):
    document, text = watched(tmp_path, pins, "pin", 64, COUNT)
    [forks] = document["forks"]
    assert (forks["way"], forks["processes"]) == ("fork", COUNT)
    assert forks["copied_pages"] == COUNT * 64 * MIB // PAGE
    # The copies are no faults.
    assert document["totals"]["copies"] < 100 * COUNT
    assert f"The forks themselves copied {forks['copied_pages']:,} pages, without a fault" in text
    assert "Not counted: pages that fork itself copies" not in text


@root_only
@pytest.mark.timeout(60)
def test_fork_allocates_a_page_table_for_each_512_pages(pins, tmp_path):
    tables = []
    for size in 0, 64:
        [forks] = watched(tmp_path, pins, "hold", size, COUNT)[0]["forks"]
        assert forks["copied_pages"] == 0
        tables.append(forks["page_tables"])
    more = (tables[1] - tables[0]) / COUNT
    # The memory may share its first and its last table with other memory, or need another level of tables.
    assert abs(more - 64 * MIB / TABLE_BYTES) <= 2


@pytest.mark.timeout(60)
def test_without_tracepoints_the_forks_are_not_seen(pins, tmp_path):
    document, text = watched(tmp_path, pins, "hold", 1, COUNT, ZEROTAX_FAULTS="software")
    assert is_na(document["forks"])
    assert "Not counted: pages that fork itself copies" in text
