"""`zerotax cow` classifies each of many faults correctly if they are mixed at random, or if pages are pinned."""

import pytest

from watching import (
    CLASSES, RANGE_BEGIN, RECORDED, as_root, check_told_right, faults, known, on_range, truth_of, watch)

ONE_CPU = 4
BASE, HUGE = ("2000", "12", "0"), ("1000", "8", "4")   # pages, rounds, huge pages


def at_random(size, seed, give_back, method):
    """Runs a program that knows the effect of each of its faults. For each process, returns the known effects, the
    reported counts, and the number of faults that were taken again.
    """
    pages, rounds, huge = size
    report, done = watch(RECORDED / "forks_at_random", pages, rounds, seed, give_back, huge, options=["--buffer", "64MiB"],
                         ZEROTAX_FAULTS=method)
    assert report["totals"]["lost"] == 0
    truth, again = truth_of(done.stdout)
    told = {p["pid"]: known(p) for p in report["processes"]}
    assert told.keys() == truth.keys() and len(truth) == 2 * int(rounds) + 1
    assert sum(sum(counts[:3]) for counts in truth.values()) > 50_000
    if int(huge) and not any(counts[3] for counts in truth.values()):
        pytest.skip("there was no huge page to be had")
    return truth, told, again


@as_root
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("size", [BASE, HUGE])
def test_every_one_of_fifty_thousand_random_faults_is_told_right(size, seed):
    truth, told, again = at_random(size, seed, 1, "tracepoints")
    check_told_right(told, truth, again)


@as_root
@pytest.mark.parametrize("size", [BASE, HUGE])
def test_an_ordinary_user_is_told_ninety_nine_of_a_hundred_random_faults_right(size):
    truth, told, _ = at_random(size, 1, 0, "software")
    wrong = sum(max(t - g, 0) for pid, counts in truth.items() for t, g in zip(counts, told[pid]))
    assert wrong <= 0.01 * sum(sum(counts[:3]) for counts in truth.values())


HELD = RECORDED / "held"


@as_root
@pytest.mark.parametrize("how, pages, expected", [
    ("none", 16, faults(zero_fills=16, reuses=16)),
    ("pipe", 16, faults(zero_fills=16, copies=16)),
    ("base", 512, faults(zero_fills=512, copies=1, reuses=511)),
])
def test_what_a_child_gave_up_is_reused_unless_something_else_holds_it(how, pages, expected):
    report, _ = watch(HELD, how)
    assert on_range(report["processes"][0], pages) == expected


@as_root
def test_a_huge_page_that_the_child_keeps_a_part_of_is_copied_whole():
    report, _ = watch(HELD, "huge")
    found = on_range(report["processes"][0], 512)
    if found["zero_fills"] != 1:
        pytest.skip("there was no huge page to be had")
    assert found == faults(zero_fills=1, copies=512)


@as_root
def test_pages_that_another_cpu_wrote_last_are_copied_though_nobody_shares_them():
    report, done = watch(HELD, "cpu", status=None)
    if done.returncode == ONE_CPU:
        pytest.skip("there is one CPU only")
    assert done.returncode == 0, done.stderr
    zero_fills, copies, reuses = map(int, done.stdout.split())
    assert copies > 0, "no page was held in any of the program's attempts"
    [found] = [m for m in report["processes"][0]["mappings"] if m["begin"] == RANGE_BEGIN]
    assert {key: found["counts"][key] for key in CLASSES} == faults(
        zero_fills=zero_fills, copies=copies, reuses=reuses)
