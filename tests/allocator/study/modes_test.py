"""If calls differ, each kind of call is shown with its share, and no sentence mixes kinds."""
import json

import pytest
from conftest import MIB, PAGE, check_schema, options, planted, point_of, zerotax

OPS = 33  # 5 operations of warm-up, and four cycles of seven
PAGES = MIB // PAGE


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("modes") / "run.json"


@pytest.fixture(scope="module")
def run(file):
    done = zerotax(
        "run", *planted("planted_one_in_seven", "planted_alternates", "planted_memset"), *options("size", [MIB]), "--ops", OPS,
        "--json", file)
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    check_schema(document, "run")
    return document


def kinds(point, which, *figures):
    return [(mode["ops"], *(mode[figure] for figure in figures)) for mode in point["modes"][which]]


def test_one_call_in_seven_has_a_mode_of_its_own(run):
    point = point_of(run, "planted_one_in_seven")
    assert kinds(point, "audit", "zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes") == [
        (24, 0, 0, 0), (4, MIB, MIB, MIB)]
    # A fresh mapping has a separate page for its header.
    assert kinds(point, "timing", "calloc_faults") == [(24, 1), (4, 1 + PAGES)]


def test_calls_that_alternate_have_two_modes_of_half_the_calls(run):
    point = point_of(run, "planted_alternates")
    assert sorted(kinds(point, "audit", "redundant_zeroed_bytes", "populated_bytes")) == [(14, MIB, 0), (14, MIB, MIB)]
    assert sorted(kinds(point, "timing", "calloc_faults")) == [(14, 0), (14, 1 + PAGES)]
    assert [mode["share"] for mode in point["modes"]["audit"]] == [0.5, 0.5]


def test_calls_that_are_alike_have_none(run):
    assert "modes" not in point_of(run, "planted_memset")


def test_the_table_names_both_kinds(file):
    done = zerotax("run", *planted("planted_one_in_seven"), *options("size", [MIB]), "--ops", OPS, "--full")
    assert "4 of 28 calls: 1 MiB zeroed, 1 MiB of it redundant, 1 MiB populated" in done.stdout, done.stdout


def test_findings_say_how_many_calls(run, file):
    done = zerotax("findings", file, "--full")
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert ("At 1 MiB, 4 of 28 callocs get fresh memory, which is zero, and write zeros over it: at 1 MiB 1,048,576 "
            "redundant bytes and 257 page faults a call") in said, said
