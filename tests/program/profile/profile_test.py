"""zerotax profile finds the known functions in which a program spends its time, and does not change the program's
behavior.
"""

import json
import os
import shutil
import subprocess

import pytest
from conftest import BUILD, NOBODY, ZEROTAX, check_schema, clean_environment, skip_if_unreadable, zerotax

BUSY = BUILD / "tests" / "recorded" / "busy"


def permitted():
    """Returns whether this kernel permits any sampling."""
    done = zerotax("profile", "--json", "-", "--", "/bin/true")
    return done.returncode != 3


@pytest.fixture(scope="module", autouse=True)
def needs_sampling():
    if not permitted():
        pytest.skip("this kernel permits no sampling")


def profile(tmp_path, *words, status=0, prefix=()):
    """Returns the checked JSON of `zerotax profile`, and its output."""
    file = tmp_path / "profile.json"
    # If a hypervisor takes the CPU for more than half of the program's time, too few samples remain, and zerotax exits
    # with status 3.
    for _ in range(5):
        done = subprocess.run([*prefix, ZEROTAX, "profile", "--full", "--json", str(file), *map(str, words)],
                              capture_output=True, text=True, check=False, env=clean_environment())
        if done.returncode != 3 or "was not sampled" not in done.stderr:
            break
    else:
        pytest.skip("the hypervisor had the CPU five times for more than half of the program's time")
    assert done.returncode == status, done.stderr
    found = json.loads(file.read_text())
    check_schema(found, "profile")
    samples = found["samples"]
    assert sum(entry["samples"] for entry in found["top_of_stack"]) == samples
    assert sum(entry["samples"] for entry in found["tree"]) == samples
    assert sum(e["samples"] for e in found["categories"] if isinstance(e["samples"], int)) == samples
    return found, done


def chains(tree, before=()):
    """Returns every path of the tree, as names."""
    for call in tree:
        path = (*before, call["function"])
        yield path
        yield from chains(call["children"], path)


@pytest.mark.parametrize("words", [[], ["fork"], ["exec"]])
def test_a_known_chain_of_calls_is_found(tmp_path, words):
    found, done = profile(tmp_path, "--", BUSY, *words, status=5)
    assert done.stdout == "done\n"
    assert any(path[0] == "busy" and path[-3:] == ("main", "outer_loop", "inner_loop") for path in chains(found["tree"]))
    assert found["exit_status"] == 5
    assert "Sort by top of stack" in done.stderr and "inner_loop (in busy)" in done.stderr
    assert max(map(len, done.stderr.splitlines())) <= 80
    # The CPU time is independent of the samples. The number of samples must match the CPU time, at 997 samples per
    # second.
    cpu = found["user_s"] + found["system_s"]
    assert 0.5 * cpu * 997 < found["samples"] < 1.5 * cpu * 997 + 20


def test_the_zeroing_of_a_case_is_found_and_its_kernel_part(tmp_path):
    found, done = profile(tmp_path, "--allocator", "largecache", "--size", "100MiB", "--seconds", 3)
    assert done.stdout.startswith("calloc_loop largecache 100 MiB touch 0 main used ")
    # The samples include every process that repeated the case, so they match the CPU time of all these processes.
    cpu = found["user_s"] + found["system_s"]
    assert 0.5 * cpu * 997 < found["samples"] < 1.5 * cpu * 997 + 20
    zeroing, = [e["samples"] for e in found["categories"] if e["category"] == "zeroing"]
    assert zeroing > 0
    assert any("memset" in path[-1] and any("largecache::" in name for name in path) for path in chains(found["tree"]))
    if found["method"]["kernel"] == "sampled" and found["method"]["kernel_names"] == "from /proc/kallsyms":
        assert any("madvise" in path[-1] for path in chains(found["tree"])), "the reserve is passed, and free madvises"


def test_another_allocator_is_preloaded(tmp_path):
    found, _ = profile(tmp_path, "--allocator", "largecache", "--", BUSY, status=5)
    assert found["samples"] > 0
    _, done = profile(tmp_path, "--allocator", "largecache", "--", "/bin/sh", "-c", "echo $LD_PRELOAD")
    assert "liblargecache" in done.stdout


def test_folded_stacks_add_up(tmp_path):
    folded = tmp_path / "folded"
    found, _ = profile(tmp_path, "--folded", folded, "--", BUSY, status=5)
    lines = folded.read_text().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == found["samples"]
    assert any(line.startswith("busy;") and ";outer_loop;inner_loop" in line for line in lines)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_nobody_is_told_what_is_missing(tmp_path):
    skip_if_unreadable()
    done = subprocess.run([*NOBODY, ZEROTAX, "profile", "--json", "-", "--text", "/dev/null", "--", BUSY, "quiet"],
                          capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode in (3, 5), done.stderr
    if done.returncode == 3:
        assert "perf_event_paranoid" in done.stderr
        return
    found = json.loads(done.stdout[done.stdout.index("{"):])
    check_schema(found, "profile")
    assert any(path[-2:] == ("outer_loop", "inner_loop") for path in chains(found["tree"]))
    paranoid = int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read())
    if paranoid > 1:
        hidden = [e for e in found["categories"] if e["category"] in ("page faults", "mapping calls", "other kernel")]
        assert len(hidden) == 3 and all("na" in e["samples"] for e in hidden)


def test_a_program_that_is_killed_ends_as_it_does_without_us(tmp_path):
    _, done = profile(tmp_path, "--", "/bin/sh", "-c", "kill -TERM $$", status=128 + 15)
    assert done.stdout == ""
