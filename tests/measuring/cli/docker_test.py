"""Under Docker's default profile and capabilities, each command does what is permitted, and names the option that would
permit more.
"""

import json
import os
import platform
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, KIB, MIB, NOBODY, SOURCE, ZEROTAX, clean_environment, is_na, planted, skip_if_unreadable

LONG = pytest.mark.long("a command more")
FAULTY = BUILD / "tests" / "recorded" / "faulty"
DENYING = [sys.executable, SOURCE / "tests" / "support" / "denying.py", "--as"]
# Capabilities that docker run gives to root but not to any other user.
CAPABILITIES = ("chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod "
                "audit_write setfcap").split()
PERMITS = "docker run --cap-add PERFMON or --security-opt seccomp=unconfined"
# Metrics that a container must not change.
COUNTS = ("zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "returned_bytes", "kernel_zeroed_bytes", "refilled_bytes",
          "calloc_syscalls", "free_syscalls", "zeroed_method")

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the profile is that of x86-64")


@pytest.fixture(name="container", scope="module", params=["root", "nobody"])
def _container(request):
    """Returns the words that, put before a command, run the command as this user in a container."""
    if os.geteuid() == 0 and request.param == "root":
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is missing: install util-linux")
        become = ["setpriv", "--bounding-set", ",".join(["-all", *(f"+{name}" for name in CAPABILITIES)]), "--inh-caps", "-all"]
    elif os.geteuid() == 0 or request.param == "nobody":
        skip_if_unreadable()
        become = NOBODY if os.geteuid() == 0 else []
    else:
        pytest.skip("only root")
    if subprocess.run([*become, *DENYING, "docker", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no filter can be installed here")
    return become


def run(become, profile, *words):
    return subprocess.run([*become, *map(str, DENYING), profile, ZEROTAX, *map(str, words)], env=clean_environment(),
                          capture_output=True, text=True, timeout=300, check=False)


def points_of(become, profile, *words):
    """The points of a run, by allocator."""
    done = run(become, profile, "run", *words, "--json", "-") if profile else subprocess.run(
        [*become, ZEROTAX, "run", *map(str, words), "--json", "-"], env=clean_environment(), capture_output=True, text=True,
        timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return {point["allocator"]: point for point in json.loads(done.stdout)["points"]}


def words_of(done):
    return " ".join((done.stdout + done.stderr).split())


def test_counts_of_stores_by_memset_are_those_of_the_host(container):
    words = ["--allocator", "glibc", "--allocator", "mimalloc", "--size", MIB, "--touch", 1, "--ops", 4]
    here, inside = points_of(container, "", *words), points_of(container, "docker", *words)
    for name, point in here.items():
        assert {key: inside[name][key] for key in COUNTS} == {key: point[key] for key in COUNTS}, name


def test_what_inline_stores_hide_is_na_with_the_option_that_shows_it(container):
    words = [*planted("planted_inline"), "--size", MIB, "--ops", 4]
    point = points_of(container, "docker", *words)["planted_inline"]
    if not is_na(point["inline_stores"]):
        assert point["inline_stores"] == "watched"   # watched by soft-dirty bits, if the kernel has them
        assert point["zeroed_bytes"] >= MIB
        return
    assert "docker run --security-opt seccomp=unconfined" in point["zeroed_bytes"]["na"]
    doctor = words_of(run(container, "docker", "doctor", "--full"))
    assert "userfaultfd is denied by a seccomp filter" in doctor
    assert "(docker run --security-opt seccomp=unconfined permits it)" in doctor


@pytest.mark.parametrize("words, why", [
    (["cow", "--", FAULTY], PERMITS),
    (["profile", "--allocator", "glibc", "--size", 64 * KIB, "--seconds", 0.2], PERMITS),
], ids=["cow", "profile"])
def test_what_needs_perf_events_says_which_option_gives_them(container, words, why):
    done = run(container, "docker", *words)
    assert done.returncode == 3 and why in done.stderr and done.stderr.splitlines()[-1].startswith("zerotax: ")


@pytest.mark.parametrize("words, status", [
    (["record", "--", "/bin/true"], 0), (["top", "--once"], 0), (["contract", "--promise", "dontneed"], 0),
    pytest.param(["thresholds", "--allocator", "glibc", "--from", "64KiB", "--to", "128KiB"], 0, marks=LONG),
    pytest.param(["snapshot", "--size", "4MiB", "--rounds", 1], 0, marks=LONG),
], ids=lambda words: words[0] if isinstance(words, list) else "")
def test_what_needs_no_permission_works(container, words, status):
    done = run(container, "docker", *words)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr and "defect" not in done.stderr


# zerotax itself makes these system calls. If one of them is denied, counts must not change.
@pytest.mark.parametrize("call", ["perf_event_open", "personality", "kcmp", "process_madvise", "get_mempolicy", "move_pages",
                                  "sched_setaffinity", "clone3", "statx"])
def test_each_denied_alone_changes_no_count(call):
    words = ["--allocator", "glibc", "--allocator", "jemalloc", "--size", MIB, "--ops", 4]
    here, inside = points_of([], "", *words), points_of([], call, *words)
    for name, point in here.items():
        assert {key: inside[name][key] for key in COUNTS} == {key: point[key] for key in COUNTS}, name
