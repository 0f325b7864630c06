"""`zerotax compare --along`: its output, its refusals, and crossings. The crossings follow from the planted behavior,
not from speed.
"""

import json

import pytest
from conftest import BUILD, MIB, PLANTED, check_schema, interrupt, zerotax

LARGECACHE = BUILD / "lib" / "liblargecache.so"
# One configuration clears every block below 64 MiB and maps each larger block. The other configuration does the
# opposite (glibc maps blocks above 32 MiB).
BELOW = ("below=" + str(LARGECACHE), "below:LARGECACHE_ENTRY_LIMIT=64MiB")
ABOVE = ("above=" + str(LARGECACHE), "above:LARGECACHE_THRESHOLD=64MiB", "above:LARGECACHE_ENTRY_LIMIT=1GiB")
CRASH = f"crash={PLANTED / 'libplanted_crash.so'}"
FEW = ("--rounds", 3, "--grid", 1)


def words(one, other):
    """Returns the arguments that compare two configurations."""
    return [one[0], other[0], *[word for setting in (*one[1:], *other[1:]) for word in ("--env", setting)]]


def along(*arguments, axis="size"):
    """Returns the words of a comparison along an axis."""
    return ("compare", *arguments, "--along", axis)


def compare(*arguments, axis="size", status=0):
    done = zerotax(*along(*arguments, axis=axis), "--json", "-")
    assert done.returncode == status, done.stderr or done.stdout[:2000]
    found = json.loads(done.stdout)
    check_schema(found, "crossover")
    assert len(found["stretches"]) == (len(found["crossings"]) + 1 if found["stretches"] else 0)
    for crossing in found["crossings"]:
        assert crossing["low"] <= crossing["at"] <= crossing["high"]
        assert crossing["cheaper_below"] != crossing["cheaper_above"]
    return found


@pytest.fixture(scope="module")
def cliff():
    return compare(*words(BELOW, ABOVE), "--from", "40MiB", "--to", "100MiB", *FEW)


def test_a_cliff_is_bracketed_where_it_was_built(cliff):
    # At about 64 MiB, one side clears the block and the other side maps it. On any machine, these times differ by a
    # factor of a thousand.
    assert cliff["verdict"] == "crossings"
    crossing, = cliff["crossings"]
    assert crossing["certain"] and crossing["jump"] and crossing["share"] == 1
    assert (crossing["cheaper_below"], crossing["cheaper_above"]) == ("above", "below")
    assert crossing["low"] <= 64 * MIB + MIB / 16 and crossing["high"] >= 64 * MIB - MIB / 16
    assert crossing["bracket"]["ratio_from"] > 10 and crossing["bracket"]["ratio_to"] < 0.1


def test_refining_narrows_the_gap(cliff):
    crossing, = cliff["crossings"]
    # The range from 40 to 80 MiB is divided into quarters twice.
    assert crossing["high"] / crossing["low"] < 2 ** (1 / 15)
    assert {point["pass"] for point in cliff["points"]} == {0, 1, 2}


def test_every_place_has_its_pairs_and_who_is_first_alternates(cliff):
    sizes = [point["size_bytes"] for point in cliff["points"]]
    assert sizes == sorted(set(sizes)) and sizes[0] == 40 * MIB and sizes[-1] == 100 * MIB
    for point in cliff["points"]:
        assert point["left_out"] is None and point["touch"] == 0
        firsts = [pair["first"] for pair in point["pairs"]]
        assert firsts in (["a", "b", "a"], ["b", "a", "b"])


def test_the_other_way_round_it_is_the_same_cliff():
    crossing, = compare(*words(ABOVE, BELOW), "--from", "40MiB", "--to", "100MiB", *FEW)["crossings"]
    assert (crossing["cheaper_below"], crossing["cheaper_above"]) == ("above", "below")


def test_one_that_is_cheaper_everywhere():
    found = compare(*words(ABOVE, ("glibc",)), "--from", "80MiB", "--to", "160MiB", *FEW)
    assert (found["verdict"], found["crossings"]) == ("none in range", [])
    stretch, = found["stretches"]
    assert stretch["cheaper"] == "glibc" and stretch["clear"] and stretch["ratio_min"] > 10


def test_the_text_fits_a_terminal_and_the_file_is_the_same_finding(tmp_path):
    done = zerotax(*along("glibc", "largecache", "--from", "64MiB", "--to", "256MiB", *FEW), "--full", "--json",
                   tmp_path / "crossover.json")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80, done.stdout
    found = json.loads((tmp_path / "crossover.json").read_text())
    check_schema(found, "crossover")
    assert ("crossing at " if found["crossings"] else "none in range") in done.stdout
    assert found["stretches"][0]["cheaper"] == "glibc" and found["points"][0]["ratio"]["median"] < 0.1


def test_by_touched_fraction():
    found = compare("glibc", f"never={PLANTED / 'libplanted_never.so'}", "--size", "64KiB", "--rounds", 3, "--cost",
                    "calloc", "--thread", "worker", axis="touch")
    assert (found["by"], found["size_bytes"], found["touch"]) == ("touch", 64 << 10, None)
    assert (found["cost"], found["thread"], found["pairs_per_point"]) == ("calloc", "worker", 3)
    fractions = [point["touch"] for point in found["points"]]
    assert fractions[0] == 0 and fractions[-1] == 1
    # In a block of 16 pages, the fractions from 0.001 to 0.03 all mean one page, so only one of these fractions is
    # measured.
    assert sum(0 < fraction <= 1 / 16 for fraction in fractions) == 1


def test_a_place_whose_probe_crashes_is_left_out_with_its_reason():
    found = compare("glibc", CRASH, "--from", "1MiB", "--to", "4MiB", *FEW, status=1)
    assert found["verdict"] == "not measured"
    for point in found["points"]:
        assert point["left_out"] == "crash: killed by SIGSEGV in calloc, operation 3"
        assert point["ratio"] == {"na": point["left_out"]} and point["pairs"] == []


def test_places_that_are_left_out_are_said_so():
    done = zerotax(*along("glibc", CRASH, "--from", "1MiB", "--to", "2MiB", *FEW), "--full")
    assert done.returncode == 1
    assert "1 MiB is left out: crash: killed by SIGSEGV" in done.stdout
    assert "not measured" in done.stdout


def test_an_interrupted_comparison_says_so_and_keeps_its_pairs(tmp_path):
    file = tmp_path / "crossover.json"
    # There are so many pairs that the command is still running when the test interrupts it.
    arguments = ["glibc", "jemalloc", "--from", "64KiB", "--to", "1MiB", "--rounds", "1000", "--json", str(file)]
    text, _ = interrupt(*along(*arguments), after_s=3)
    found = json.loads(file.read_text())
    check_schema(found, "crossover")
    assert found["state"] == "interrupted"
    assert sum(len(point["pairs"]) for point in found["points"]) > 0
    assert max(map(len, text.splitlines())) <= 80
