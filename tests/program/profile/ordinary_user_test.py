"""Tests zerotax profile as an ordinary user, on a program that mostly takes page faults. Kernel time is never
attributed to the program.
"""

import json
import os
import shutil
import subprocess

import pytest
from conftest import BUILD, NOBODY, ZEROTAX, check_schema, clean_environment, skip_if_unreadable, zerotax

FAULTY = BUILD / "tests" / "recorded" / "faulty"
OF_KERNEL = ("page faults", "mapping calls", "other kernel")
UNKNOWN = "kernel (cause unknown)"
FOREVER = 600

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else"),
    pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux"),
]


@pytest.fixture(scope="module", autouse=True)
def needs_sampling():
    skip_if_unreadable()
    if zerotax("profile", "--json", "-", "--", "/bin/true", prefix=NOBODY).returncode == 3:
        pytest.skip("this kernel permits an ordinary user no sampling")


class Faulty:
    """The running program, started by the user nobody."""

    def __enter__(self):
        self.process = subprocess.Popen([*NOBODY, FAULTY, str(FOREVER)], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "started\n"
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def paths(tree, before=()):
    for call in tree:
        path = (*before, call["function"])
        yield path, call["samples"]
        yield from paths(call["children"], path)


def read(done):
    """Returns the checked JSON after a program's own output, and its categories by name."""
    assert done.returncode == 0, done.stderr or done.stdout
    found = json.loads(done.stdout[done.stdout.index("{"):])
    check_schema(found, "profile")
    categories = {entry["category"]: entry for entry in found["categories"]}
    numbers = [entry["samples"] for entry in found["categories"] if isinstance(entry["samples"], int)]
    assert sum(numbers) == found["samples"] == sum(root["samples"] for root in found["tree"])
    for entry in found["categories"]:
        assert entry.get("at_most", 0) <= found["samples"]
    return found, categories


def check_places(found):
    """Checks the number of faults, and that three quarters of them are in memset."""
    faults = found["page_faults"]
    # The kernel's count of faults is read shortly before the last samples, so there may be more samples than counted
    # faults.
    assert 0 < faults["samples"] <= 1.25 * faults["taken"] + 256
    assert sum(root["samples"] for root in faults["tree"]) == faults["samples"]
    in_memset = sum(count for path, count in paths(faults["tree"])
                    if "memset" in path[-1] and "fills_fresh_memory" in path[-2])
    in_all = sum(count for path, count in paths(faults["tree"]) if "fills_fresh_memory" in path[-1])
    assert in_all > 0.9 * faults["samples"]
    assert 0.5 * in_all < in_memset < 0.95 * in_all


def check_hidden(found, categories):
    if found["method"]["kernel"] == "sampled":
        pytest.skip("here an ordinary user may sample the kernel")
    # On real machines, page faults take between a quarter and nine tenths of the time. Some hypervisors hide a part of
    # each fault's time.
    assert categories[UNKNOWN]["samples"] > 0.12 * found["samples"]
    assert found["accounted"] == categories[UNKNOWN]["samples"]
    for name in OF_KERNEL:
        assert "na" in categories[name]["samples"]
        assert categories[name]["at_most"] == categories[UNKNOWN]["samples"]
    check_places(found)


@pytest.mark.parametrize("how", [[], ["--wall"]], ids=["cpu", "wall"])
def test_of_a_running_process_kernel_time_is_of_unknown_cause(how):
    with Faulty() as pid:
        done = zerotax("profile", "--pid", pid, "--seconds", "1.5", *how, "--json", "-", prefix=NOBODY)
    found, categories = read(done)
    check_hidden(found, categories)
    assert sum(thread["samples"] for thread in found["threads"]) == found["samples"]
    assert any("computes" in path[-1] for path, _ in paths(found["tree"]))


@pytest.mark.parametrize("how", [[], ["--wall"]], ids=["cpu", "wall"])
def test_the_summary_has_the_bound_and_the_places(how):
    with Faulty() as pid:
        done = zerotax("profile", "--full", "--pid", pid, "--seconds", "1", *how, prefix=NOBODY)
    assert done.returncode == 0, done.stderr
    if "Kernel time was not sampled" not in done.stdout:
        pytest.skip("here an ordinary user may sample the kernel")
    row, = [line for line in done.stdout.splitlines() if line.endswith(UNKNOWN)]
    assert float(row.split()[1]) > 12
    page_faults, = [line for line in done.stdout.splitlines() if "  page faults (at most " in line]
    assert page_faults.split()[:2] == ["n/a", "n/a"] and row.split()[1] in page_faults
    assert "Call graph" in done.stdout and "Page faults in user mode" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_of_a_command_too():
    done = zerotax("profile", "--json", "-", "--text", "/dev/null", "--", FAULTY, "0.4", prefix=NOBODY, cwd="/")
    found, categories = read(done)
    check_hidden(found, categories)
    assert abs(found["accounted"] - found["system_s"] * found["method"]["hz"]) <= 1


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is missing: install util-linux")
def test_without_the_names_of_the_kernel_page_faults_are_a_bound_not_zero(tmp_path):
    hidden = tmp_path / "kallsyms"
    hidden.write_text("0000000000000000 T _stext\n0000000000000000 T asm_exc_page_fault\n")
    hide = ["unshare", "-m", "sh", "-c", f'mount --bind {hidden} /proc/kallsyms && exec "$@"', "sh"]
    if subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mounts are not permitted here")
    done = subprocess.run([*hide, ZEROTAX, "profile", "--json", "-", "--text", "/dev/null", "--", FAULTY, "0.4"],
                          capture_output=True, text=True, check=False, env=clean_environment())
    found, categories = read(done)
    if found["method"]["kernel"] != "sampled":
        pytest.skip("the kernel may not be sampled here")
    unknown = categories[UNKNOWN]["samples"]
    assert unknown > 0.1 * found["samples"] and found["accounted"] == 0
    for name in OF_KERNEL:
        assert "na" in categories[name]["samples"]
    faults, calls = (categories[name]["at_most"] for name in ("page faults", "mapping calls"))
    # The samples are divided by the user registers: a page fault occurs outside of a system call, and munmap is a
    # system call.
    assert faults > calls > 0 and faults + calls == unknown
    assert "na" in categories["page faults"]["while_zeroing"]
    check_places(found)
