"""On an older kernel every figure is the one of this machine, or says why it is missing; none is quietly 0.

Boots the kernel image that ZEROTAX_OLD_KERNEL names (made for Debian 12's Linux 6.1, which has neither PAGEMAP_SCAN
nor asynchronous write protection; Linux 5.10 has no syscall user dispatch either) and compares what root and nobody
measure there with the same commands here. Times are compared nowhere: the machine is emulated.
"""

import json
import re
from typing import NamedTuple

import pytest

from conftest import (  # noqa: E402
    BUILD, DETERMINISTIC, KIB, MIB, PLANTED, ZEROTAX, check_schema, is_na, measure, one_fault_brings_one_page, options,
    planted, same, zerotax)
from old_kernel_machine import Job, Machine, shell, what_is_missing  # noqa: E402

if not ZEROTAX.exists():
    pytest.exit(f"{ZEROTAX} is not built; build it or set ZEROTAX_BUILD", returncode=2)

BUILT_IN = [
    line.split()[0] for line in zerotax("list").stdout.split("\n\n")[0].splitlines()[1:]
    if "not in this build" not in line]
POLICIES = [
    f"planted_{policy}" for policy in ("memset", "never", "memset_above", "inline", "half", "dirty", "populate")]
OPS = 8
GUEST_MIB = 1536
TIMEOUT_S = 300  # it takes one to two minutes; more only where others keep the processor busy


class Plan(NamedTuple):
    """What is measured both here and there."""

    allocators: list
    sizes: list
    touches: tuple = (0, 1)
    users: tuple = ("root",)

    def arguments(self):
        built_in = [name for name in self.allocators if name in BUILT_IN]
        words = [*options("allocator", built_in), *planted(*(name for name in self.allocators if name in POLICIES))]
        if "largecache" in built_in:
            # How much it keeps is a share of the machine's memory, and the two machines differ in that.
            words += ["--env", "largecache:LARGECACHE_RESERVE=256MiB"]
        return [*words, *options("size", self.sizes), *options("touch", self.touches), "--ops", OPS]

    def status(self):
        """planted_dirty hands out what the program wrote: a finding."""
        return 1 if "planted_dirty" in self.allocators and max(self.touches) > 0 else 0


PLANS = {
    "small": Plan([*BUILT_IN, *POLICIES], [64 * KIB, MIB], users=("root", "nobody")),
    "medium": Plan([*BUILT_IN, *POLICIES], [20 * MIB]),
    "medium_nobody": Plan(["glibc", "mimalloc", "planted_inline", "planted_half"], [20 * MIB], users=("nobody",)),
    "large": Plan(["glibc", "jemalloc", "mimalloc", "largecache"], [100 * MIB], touches=(0,)),
}
MEASURED_THERE = [(name, user) for name, plan in PLANS.items() for user in plan.users]
USERS = ("root", "nobody")

each_run = pytest.mark.parametrize(("name", "user"), MEASURED_THERE)
each_user = pytest.mark.parametrize("user", USERS)


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    missing = what_is_missing()
    if missing:
        pytest.skip(missing)
    jobs = {f"list_{user}": Job(shell(ZEROTAX, "list"), user) for user in USERS}
    for name, user in MEASURED_THERE:
        words = [ZEROTAX, "run", *PLANS[name].arguments(), "--json", f"/out/{name}_{user}.json"]
        jobs[f"{name}_{user}"] = Job(shell(*words), user)
    programs = [
        ZEROTAX, *(BUILD / "bin" / f"bench-{name}" for name in BUILT_IN), *(BUILD / "lib").glob("*.so"),
        *(PLANTED / f"lib{policy}.so" for policy in POLICIES)]
    return Machine(tmp_path_factory.mktemp("machine"), programs, jobs, GUEST_MIB, TIMEOUT_S)


@pytest.fixture(scope="module")
def here(there):
    """The same commands on this machine."""
    return {name: measure(*plan.arguments(), status=plan.status()) for name, plan in PLANS.items()}


def run_there(there, name, user):
    done = there.done(f"{name}_{user}")
    assert done.status == PLANS[name].status(), done.errors
    run = json.loads(there.file(f"{name}_{user}.json"))
    check_schema(run)
    return run


def version(run):
    """(6, 1) of 6.1.0-56-cloud-amd64."""
    return tuple(int(number) for number in re.match(r"(\d+)\.(\d+)", run["environment"]["kernel"]).groups())


def sees_system_calls(run):
    return version(run) >= (5, 11)  # where syscall user dispatch came


def no_write_tracking(run):
    """The one right reason why this kernel cannot watch inline stores."""
    if version(run) < (5, 11):  # where UFFD_USER_MODE_ONLY came
        return "userfaultfd is not permitted or not in this kernel"
    return "this kernel has no asynchronous write protection (Linux 6.7)"


def is_excused(run, key, figure, other, fresh=False):
    """Whether a figure may be missing there, and says why as it should. `other` is the point as it was measured here,
    `fresh` whether the figure is of a block that was not handed out before."""
    if key.endswith("syscalls") and not sees_system_calls(run):
        return figure == {"na": "this kernel has no syscall user dispatch (Linux 5.11)"}
    if key == "inline_stores":
        return figure == {"na": no_write_tracking(run)}
    if key not in ("zeroed_bytes", "redundant_zeroed_bytes", "zeroed_method", "zero_ns", "zero_ns_method"):
        return False
    if other["allocator"] == "planted_populate" and not sees_system_calls(run):
        return is_na(figure)  # pages that appeared may be stores, or asked of the kernel
    # The pagemap shows which pages of a fresh block were filled.
    return other["zeroed_method"] == "inline" and not fresh and figure == {
        "na": f"stores other than memset may have gone unseen: {no_write_tracking(run)}"}


def agrees(key, one, other):
    """Whether a figure there is the one here. For a time it only compares whether there was anything to time."""
    if key == "zero_ns":
        return not is_na(one) and not is_na(other) and (one == 0) == (other == 0)
    return one == other


def pairs(one, other):
    """The points of two runs of one plan."""
    assert len(one["points"]) == len(other["points"])
    for first, second in zip(one["points"], other["points"]):
        for key in ("allocator", "version", "size_bytes", "touch", "thread"):
            assert first[key] == second[key]
        yield first, second


FIGURES_OF_POINT = (
    *DETERMINISTIC, "syscalls", "status", "reason", "violations", "ops", "zero_ns", "zero_ns_method", "inline_stores")
FIGURES_OF_OPERATION = tuple(key for key in DETERMINISTIC if key != "zeroed_method")


def compared(keys, run):
    """Where huge pages are on for everybody, how many faults there are depends on how memory is cut up."""
    return [key for key in keys if one_fault_brings_one_page(run) or not key.endswith("_faults")]


def surprises(run, other_run):
    """Every figure there that is neither the one here nor missing for the right reason."""
    found = []
    for point, other in pairs(run, other_run):
        place = f"{point['allocator']} {point['size_bytes']} touch {point['touch']}"
        for key in compared(FIGURES_OF_POINT, other_run):
            if not agrees(key, point[key], other[key]) and not is_excused(run, key, point[key], other):
                found.append(f"{place}, {key}: {point[key]} there, {other[key]} here")
        assert len(point["first_ops"]) == len(other["first_ops"]) == OPS
        for early, other_early in zip(point["first_ops"], other["first_ops"]):
            for key in compared(FIGURES_OF_OPERATION, other_run):
                agreed = same(key, early[key], other_early[key])
                if not agreed and not is_excused(run, key, early[key], other, fresh=early["op"] == 1):
                    found.append(
                        f"{place}, operation {early['op']}, {key}: {early[key]} there, {other_early[key]} here")
    return found


@each_user
def test_the_machine_lists_the_same_allocators_of_the_same_versions(there, user):
    done = there.done(f"list_{user}")
    assert (done.status, done.errors) == (0, "")
    assert done.output == zerotax("list").stdout


@each_run
def test_the_kernel_is_an_older_one_and_the_run_says_what_it_lacks(there, name, user):
    environment = run_there(there, name, user)["environment"]
    assert version({"environment": environment}) < (6, 7), "ZEROTAX_OLD_KERNEL names a kernel that lacks nothing"
    assert environment["pagemap_scan"] is False
    assert environment["capabilities"] == {
        "pagemap": "read", "write_tracking": no_write_tracking({"environment": environment}), "root": user == "root"}


@each_run
def test_every_figure_is_the_one_of_this_machine_or_says_rightly_why_it_is_missing(there, here, name, user):
    assert surprises(run_there(there, name, user), here[name]) == []


@each_run
def test_nothing_is_missing_of_what_the_program_alone_decides(there, name, user):
    # On every kernel: so that the comparison above does not compare reasons.
    run = run_there(there, name, user)
    cannot_tell = ("planted_inline",) if sees_system_calls(run) else ("planted_inline", "planted_populate")
    for point in run["points"]:
        known = ["populated_bytes", "calloc_faults", "free_faults"]
        if point["allocator"] not in cannot_tell:
            known += ["zeroed_bytes", "redundant_zeroed_bytes"]
        assert [key for key in known if is_na(point[key])] == []
        for time in ("calloc_ns", "free_ns"):
            assert point[time]["median"] > 0


@each_run
def test_inline_stores_over_memory_that_was_populated_before_are_unknown_and_over_fresh_memory_are_seen(
        there, name, user):
    points = [point for point in run_there(there, name, user)["points"] if point["allocator"] == "planted_inline"]
    assert len(points) == (
        len(PLANS[name].sizes) * len(PLANS[name].touches) if "planted_inline" in PLANS[name].allocators else 0)
    for point in points:
        first, *later = point["first_ops"]
        assert first["zeroed_bytes"] == first["redundant_zeroed_bytes"] == point["size_bytes"]
        for entry in [point, *later]:
            for key in ("zeroed_bytes", "redundant_zeroed_bytes", "zero_ns"):
                assert is_na(entry[key]) and "unseen" in entry[key]["na"]


@pytest.mark.parametrize("name", PLANS)
def test_reading_the_pagemap_here_foretells_what_an_older_kernel_knows(there, here, name):
    # ZEROTAX_PAGEMAP=read is said to make any kernel behave as an older one.
    plan = PLANS[name]
    found = run_there(there, name, plan.users[0])
    foretold = measure(*plan.arguments(), status=plan.status(), ZEROTAX_PAGEMAP="read")

    def knows(run):
        """Which figures there are, and how large those that count bytes."""
        return [
            [None if is_na(entry[key]) else entry[key] for entry in [point, *point["first_ops"]]
             for key in ("zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes")]
            for point in run["points"] if sees_system_calls(found) or point["allocator"] != "planted_populate"]

    assert knows(found) == knows(foretold)


def test_no_program_crashed_there_and_the_kernel_had_nothing_to_complain_of(there):
    complaints = [
        line for line in there.file("kernel.log").splitlines()
        if re.search(r"segfault|general protection|BUG:|Oops|Call Trace|Out of memory|rcu_.*stall", line)]
    assert complaints == []
