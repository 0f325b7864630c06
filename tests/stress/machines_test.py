"""Under the kernels of four releases of Debian, every metric is the same as on this machine, for root and for an
ordinary user.

No test compares times, because the machines are emulated. The machines have `thp=madvise`, like this machine. If huge
pages were enabled for all memory, one fault would populate many pages.
"""

import json
import re
from typing import NamedTuple

import pytest
from conftest import (
    BUILD, DETERMINISTIC, KIB, MIB, NOBODY, PAGE, UNHURRIED_MIMALLOC, check_schema, measure, open_to_nobody, options,
    planted, same, zerotax)
from hostile_truth import INLINE, OR_UNKNOWN, TRUTH, check_zeroed, hostile
from watching import CLASSES, FORKS, RANGE_BEGIN, RECORDED, check_told_right, faults, known, on_range, truth_of

CACHE = BUILD / "tests" / "cache"
RELEASES = {"bullseye": "5.10.", "bookworm": "6.1.", "trixie": "6.12.", "sid": "7."}
SETTINGS = "thp=madvise,sysctl.kernel.perf_event_paranoid=2"
BUILT_IN = [line.split()[0] for line in zerotax("list").stdout.split("\n\n")[0].splitlines()[1:]
            if "not in this build" not in line]
POLICIES = [f"planted_{policy}" for policy in ("memset", "never", "memset_above", "inline", "half", "dirty", "populate")]


class Plan(NamedTuple):
    """A measurement that is made both on this machine and in a virtual machine."""

    allocators: list
    sizes: list
    touches: tuple = (0, 1)

    def arguments(self):
        built_in = [name for name in self.allocators if name in BUILT_IN]
        words = [*options("allocator", built_in), *planted(*(name for name in self.allocators if name in POLICIES))]
        if "largecache" in built_in:
            # largecache keeps a share of the machine's memory. The two machines differ in memory.
            words += ["--env", "largecache:LARGECACHE_RESERVE=256MiB"]
        if "mimalloc" in built_in:
            words += ["--env", f"mimalloc:{UNHURRIED_MIMALLOC}"]
        return [*words, *options("size", self.sizes), *options("touch", self.touches), "--ops", 8]

    def status(self):
        """Returns the expected exit status: 1 on machines where planted_dirty returns the program's bytes, which is a
        finding.
        """
        return 1 if "planted_dirty" in self.allocators and max(self.touches) > 0 else 0


PLANS = {
    "small": Plan([*BUILT_IN, *POLICIES], [64 * KIB, MIB]),
    "medium": Plan([*BUILT_IN, *POLICIES], [20 * MIB]),
    "large": Plan(["glibc", "jemalloc", "mimalloc", "largecache"], [100 * MIB], touches=(0,)),
}
RUNS = [(release, name, "root") for release in RELEASES for name in PLANS]
RUNS += [(release, "small", "nobody") for release in RELEASES]


def on(release, user, command, *words):
    # On some machines, the user nobody may not write to /tmp.
    place = BUILD / "tests" / f"of_{user}"
    place.mkdir(exist_ok=True)
    open_to_nobody(place)
    return zerotax(command, "--on", f"vm:{release},{SETTINGS}", *words, prefix=NOBODY if user == "nobody" else (), timeout=1200,
                   XDG_CACHE_HOME=CACHE, TMPDIR=place)


@pytest.fixture(name="folder")
def folder_of_everybody(tmp_path):
    open_to_nobody(tmp_path)
    return tmp_path


@pytest.fixture(name="here", scope="module")
def measured_here():
    return {name: measure(*plan.arguments(), status=plan.status(), timeout=600) for name, plan in PLANS.items()}


@pytest.mark.parametrize(("release", "name", "user"), RUNS)
def test_every_figure_is_the_one_of_this_machine(here, folder, release, name, user):
    plan = PLANS[name]
    done = on(release, user, "run", *plan.arguments(), "--json", folder / "there.json")
    assert done.returncode == plan.status(), done.stderr
    there = json.loads((folder / "there.json").read_text())
    check_schema(there)
    assert there["environment"]["kernel"].startswith(RELEASES[release])
    capabilities = there["environment"]["capabilities"]
    assert capabilities["root"] is (user == "root")
    assert capabilities["system_calls"] == ("filter of seccomp" if release == "bullseye" else "syscall user dispatch")
    surprises = []
    for point, other in zip(there["points"], here[name]["points"]):
        place = f"{point['allocator']} {point['size_bytes']} touch {point['touch']}"
        for entry, known_entry in zip([point, *point["first_ops"]], [other, *other["first_ops"]]):
            surprises += [
                f"{place}, {entry.get('op', 'all')}: {key} is {entry[key]}, and {known_entry[key]} here"
                for key in DETERMINISTIC
                if key in known_entry and not same(key, entry[key], known_entry[key])]
    assert surprises == []
    assert len(there["points"]) == len(here[name]["points"])


# Allocators for which userfaultfd works without privileges, as on Linux 5.11.
SERVED = {"uffd_copy", "uffd_zeropage", "uffd_move", "at_first_touch_uffd"}
# Expected results on these kernels. All four kernels keep soft-dirty bits, which find stores if an allocator denies
# userfaultfd. On an emulated processor, zerotax may still be reading pages when the other thread stores its zeros.
THERE = TRUTH | {
    "denies_userfaultfd": INLINE, "denies_ioctl": INLINE,
    "other_thread_later": TRUTH["other_thread_later"]._replace(bound=OR_UNKNOWN, why="another thread")}


@pytest.mark.parametrize("release", RELEASES)
def test_no_hostile_allocator_deceives(folder, release):
    names = set(TRUTH) - (SERVED if release == "bullseye" else set())
    done = on(release, "root", "run", *hostile(*names), "--size", MIB, "--touch", 1, "--ops", 8, "--timeout", 300,
              "--json", folder / "run.json")
    assert done.returncode == 0, done.stderr
    run = json.loads((folder / "run.json").read_text())
    for point in run["points"]:
        check_zeroed(run, point, THERE[point["allocator"]])


MIXES = {"many": (2000, 500, 300, 400), "few": (64, 0, 1, 0)}
METHODS = {"root": "tracepoints", "nobody": "software"}


@pytest.mark.parametrize("user", METHODS)
@pytest.mark.parametrize("name", MIXES)
@pytest.mark.parametrize("release", RELEASES)
def test_cow_tells_known_faults_right(folder, release, user, name):
    pages, child, both, after = MIXES[name]
    done = on(release, user, "cow", "--json", folder / "cow.json", "--faults", folder / "faults.jsonl", "--", FORKS, *MIXES[name])
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "cow.json").read_text())
    check_schema(report, "cow")
    assert report["totals"]["lost"] == 0 and report["method"] == METHODS[user]
    by_the_kernel = 1 if user == "root" else 0   # an ordinary user does not see copies that the kernel makes
    parent, forked = report["processes"]
    assert on_range(forked, pages) == faults(copies=child + by_the_kernel)
    assert on_range(parent, pages) == faults(zero_fills=pages, copies=both, reuses=after + child)
    each = [json.loads(line) for line in (folder / "faults.jsonl").read_text().splitlines()]
    assert len(each) == report["faults_file"]["written"] == sum(report["totals"][key] for key in CLASSES)
    own = [f for f in each if 0 <= f["address"] - RANGE_BEGIN < pages * PAGE]
    assert {f["code"] for f in own} <= {str(FORKS), "kernel"}


@pytest.mark.parametrize("size", [("2000", "12", "1", "1", "0"), ("1000", "8", "1", "1", "4")])
@pytest.mark.parametrize("release", RELEASES)
def test_cow_tells_every_random_fault_right(folder, release, size):
    done = on(release, "root", "cow", "--json", folder / "cow.json", "--", RECORDED / "forks_at_random", *size)
    assert done.returncode == 0, done.stderr
    truth, again = truth_of(done.stdout)
    report = json.loads((folder / "cow.json").read_text())
    check_told_right({process["pid"]: known(process) for process in report["processes"]}, truth, again)


@pytest.mark.parametrize("user", METHODS)
@pytest.mark.parametrize("release", RELEASES)
def test_record_counts_a_known_program(folder, release, user):
    done = on(release, user, "record", "--json", folder / "record.json", "--", RECORDED / "refill", "malloc", "20", "4", str(MIB))
    assert done.returncode == 0, done.stderr
    record = json.loads((folder / "record.json").read_text())
    check_schema(record, "record")
    zeroed = 20 * 4 * MIB
    assert record["totals"]["kernel"]["zeroed_bytes"] == pytest.approx(zeroed, rel=0.06)
    assert record["totals"]["kernel"]["refilled_bytes"] == pytest.approx(zeroed - 4 * MIB, rel=0.06)
    assert record["not_followed"] == []


def test_the_exit_status_is_that_of_the_program():
    done = on("bookworm", "root", "record", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7 and re.search(r"exited with 7", done.stdout + done.stderr)
