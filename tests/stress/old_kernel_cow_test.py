"""On an older kernel `zerotax cow` tells the faults of programs whose faults are known as it does here.

Boots the kernel image that ZEROTAX_OLD_KERNEL names, as old_kernel_test.py does.
"""

import json

import pytest

from conftest import PAGE, ZEROTAX, check_schema, is_na  # noqa: E402
from old_kernel_machine import Job, Machine, shell, what_is_missing  # noqa: E402
from watching import (  # noqa: E402
    CLASSES, FORKS, RANGE_BEGIN, RECORDED, check_told_right, faults, known, on_range, truth_of)

MIXES = {"many": (2000, 500, 300, 400), "few": (64, 0, 1, 0)}
METHODS = {"root": "tracepoints", "nobody": "software"}
# Pages, rounds, seed, whether some are given back, huge pages.
RANDOM = {"base": ("2000", "12", "1", "1", "0"), "huge": ("1000", "8", "1", "1", "4")}
GUEST_MIB, TIMEOUT_S = 1024, 300


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    missing = what_is_missing()
    if missing:
        pytest.skip(missing)
    # Jobs are done in the order of their names: Debian's kernels forbid ordinary users perf altogether, at first.
    jobs = {"0_denied": Job(shell(ZEROTAX, "cow", "--", FORKS, *MIXES["few"]), "nobody"),
            "1_permit": Job("echo 2 >/proc/sys/kernel/perf_event_paranoid")}
    for user in METHODS:
        for name, mix in MIXES.items():
            words = [ZEROTAX, "cow", "--json", f"/out/{user}_{name}.json", "--faults", f"/out/{user}_{name}.jsonl",
                     "--", FORKS, *mix]
            jobs[f"{user}_{name}"] = Job(shell(*words), user)
    for name in ("none", "pipe", "base"):
        jobs[f"held_{name}"] = Job(
            shell(ZEROTAX, "cow", "--json", f"/out/held_{name}.json", "--", RECORDED / "held", name))
    for name, size in RANDOM.items():
        jobs[f"random_{name}"] = Job(
            shell(ZEROTAX, "cow", "--json", f"/out/random_{name}.json", "--", RECORDED / "forks_at_random", *size))
    programs = [ZEROTAX, FORKS, RECORDED / "held", RECORDED / "forks_at_random"]
    return Machine(tmp_path_factory.mktemp("machine"), programs, jobs, GUEST_MIB, TIMEOUT_S)


def report_of(there, job):
    done = there.done(job)
    assert done.status == 0, done.errors
    report = json.loads(there.file(f"{job}.json"))
    check_schema(report, "cow")
    assert report["totals"]["lost"] == 0
    return report, done


def test_where_perf_is_forbidden_one_line_says_so(there):
    done = there.done("0_denied")
    if done.status == 0:
        pytest.skip("that kernel permits perf to everybody")
    assert done.status == 3 and done.output == ""
    assert len(done.errors.splitlines()) == 1 and "perf_event_paranoid" in done.errors


@pytest.mark.parametrize("user", METHODS)
@pytest.mark.parametrize("name", MIXES)
def test_known_faults_are_told_right(there, user, name):
    pages, child, both, after = MIXES[name]
    report, _ = report_of(there, f"{user}_{name}")
    assert report["method"] == METHODS[user]
    by_the_kernel = 1 if user == "root" else 0   # an ordinary user does not see what the kernel writes
    parent, forked = report["processes"]
    assert on_range(forked, pages) == faults(copies=child + by_the_kernel)
    assert on_range(parent, pages) == faults(zero_fills=pages, copies=both, reuses=after + child)
    assert is_na(report["totals"]["copy_ns"]) == (user == "nobody")


@pytest.mark.parametrize("user", METHODS)
def test_each_fault_is_written(there, user):
    report, _ = report_of(there, f"{user}_many")
    each = [json.loads(line) for line in there.file(f"{user}_many.jsonl").splitlines()]
    assert len(each) == report["faults_file"]["written"] == sum(report["totals"][key] for key in CLASSES)
    own = [f for f in each if 0 <= f["address"] - RANGE_BEGIN < MIXES["many"][0] * PAGE]
    assert {f["code"] for f in own} <= {str(FORKS), "kernel"}
    check_schema(own[0], "fault")


@pytest.mark.parametrize("name, pages, expected", [
    ("none", 16, faults(zero_fills=16, reuses=16)),
    ("pipe", 16, faults(zero_fills=16, copies=16)),
    ("base", 512, faults(zero_fills=512, copies=1, reuses=511)),
])
def test_what_something_else_holds_is_copied_there_too(there, name, pages, expected):
    report, _ = report_of(there, f"held_{name}")
    assert on_range(report["processes"][0], pages) == expected


@pytest.mark.parametrize("name", RANDOM)
def test_every_random_fault_is_told_right(there, name):
    report, done = report_of(there, f"random_{name}")
    truth, again = truth_of(done.output)
    check_told_right({process["pid"]: known(process) for process in report["processes"]}, truth, again)
    assert sum(sum(counts[:3]) for counts in truth.values()) > 50_000
