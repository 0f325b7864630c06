"""With --on vm:…, the same command has the same result under another kernel. A machine that cannot be booted is
reported in one line.
"""

import json
import os
import shutil
import subprocess

import pytest
from conftest import (BUILD, DETERMINISTIC, KIB, MIB, UNHURRIED_MIMALLOC, ZEROTAX, check_schema, clean_environment, is_na,
                      measure, options, same, zerotax)

CACHE = BUILD / "tests" / "cache"
ALLOCATORS = ["glibc", "jemalloc", "mimalloc", "largecache"]
PLAN = [*options("allocator", ALLOCATORS), "--env", f"mimalloc:{UNHURRIED_MIMALLOC}",
        *options("size", [64 * KIB, MIB]), *options("touch", [0, 1]), "--ops", 4]
# Maximum difference between counts of faults, because the kernel may populate more or fewer pages of a library.
BY_THE_WAY = 2


def on(place, *words, **environment):
    return zerotax(words[0], "--on", place, *words[1:], timeout=600, XDG_CACHE_HOME=CACHE, **environment)


def or_skip(done):
    """Skips the test if no machine can be booted: without QEMU, or if a first fetch fails without a mirror of Debian.
    """
    if done.returncode == 3 and ("is missing" in done.stderr or "cannot fetch" in done.stderr):
        pytest.skip(done.stderr)
    return done


@pytest.fixture(name="there", scope="module")
def measured_there(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine")
    done = or_skip(on("vm:bookworm,thp=madvise", "run", *PLAN, "--json", folder / "there.json"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith(("zerotax: booting Linux 6.1.", "measuring: "))
    run = json.loads((folder / "there.json").read_text())
    check_schema(run)
    return run


def test_the_kernel_is_debians_and_inline_stores_are_seen_by_soft_dirty_bits(there):
    environment = there["environment"]
    assert environment["kernel"].startswith("6.1.") and environment["thp"] == "madvise"
    assert environment["pagemap_scan"] is False
    assert environment["capabilities"] == {
        "pagemap": "read", "write_tracking": "soft-dirty bits", "system_calls": "syscall user dispatch",
        "root": os.geteuid() == 0}


def test_every_count_is_the_one_of_this_machine(there):
    here = measure(*PLAN)
    assert len(here["points"]) == len(there["points"]) == len(ALLOCATORS) * 4
    for point, other in zip(here["points"], there["points"]):
        place = f"{point['allocator']} {point['size_bytes']} touch {point['touch']}"
        for key in DETERMINISTIC:
            assert same(key, other[key], point[key]), f"{place}: {key}"
        assert other["inline_stores"] == point["inline_stores"]
        for early, other_early in zip(point["first_ops"], other["first_ops"]):
            for key in ("zeroed_bytes", "redundant_zeroed_bytes", "zeroed_in_free_bytes"):
                assert other_early[key] == early[key], f"{place}, operation {early['op']}: {key}"
            assert abs(other_early["calloc_faults"] - early["calloc_faults"]) < BY_THE_WAY


def test_record_tells_faults_from_bytes_where_huge_pages_are_always_granted(tmp_path):
    """The program allocates four blocks of 16 MiB five times, and writes one byte in each 64 KiB. The kernel zeroes
    whole huge pages for these writes each time.
    """
    kernel = {}
    for thp in ("always", "never"):
        file = tmp_path / f"{thp}.json"
        done = or_skip(on(f"vm:trixie,thp={thp}", "record", "--json", file, "--", BUILD / "tests" / "recorded" / "refill",
                          "sparse", 5, 4, 16 * MIB))
        assert done.returncode == 0, done.stderr
        record = json.loads(file.read_text())
        assert ("The CPU is emulated" in " ".join(done.stderr.split())) == ("TCG" in record["environment"]["cpu"])
        kernel[thp] = record["totals"]["kernel"]
    written = 5 * 4 * 16 * MIB
    assert kernel["always"]["huge_bytes"] == written and kernel["never"]["huge_bytes"] == 0
    # The remaining bytes are in small pages of the program itself.
    assert 0 <= kernel["always"]["zeroed_bytes"] - written < MIB
    assert 0 <= kernel["never"]["zeroed_bytes"] - written // 16 < MIB
    assert kernel["always"]["zero_fill_faults"] < 400
    assert 0 <= kernel["never"]["zero_fill_faults"] - written // (64 * KIB) < 400
    # In every round except the first, the kernel refills memory that the program had before.
    for zeroed, each in ((written, kernel["always"]), (written // 16, kernel["never"])):
        assert abs(each["refilled_bytes"] - zeroed * 4 // 5) < MIB


def test_times_of_an_emulated_cpu_are_not_available(there):
    for point in there["points"]:
        if "TCG" not in there["environment"]["cpu"]:
            pytest.skip("the machine runs on KVM")
        assert is_na(point["calloc_ns"]) and "emulated" in point["calloc_ns"]["na"]
        assert point["zeroed_bytes"] == 0 or is_na(point["zero_ns"])
        assert all(is_na(early["calloc_ns"]) for early in point["first_ops"])


def refused(done, status, *words):
    """Checks the exit status and the last line of standard error; earlier lines report the fetch and the boot."""
    assert done.returncode == status and done.stdout == "", done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("zerotax: ") and "report it" not in last
    for word in words:
        assert word in last


def test_without_a_mirror_nothing_is_left_behind(tmp_path):
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get")
    done = zerotax("run", "--size", "1MiB", "--on", "vm:bookworm", XDG_CACHE_HOME=tmp_path,
                   ZEROTAX_DEBIAN_MIRROR="http://127.0.0.1:1/debian", timeout=120)
    refused(done, 3, "cannot fetch the kernel of Debian bookworm", "ZEROTAX_DEBIAN_MIRROR")
    assert list((tmp_path / "zerotax" / "kernels").iterdir()) == []


def test_without_qemu_its_package_is_named(tmp_path):
    image = tmp_path / "vmlinuz-1"
    image.write_bytes(b"no kernel")
    refused(zerotax("doctor", "--on", f"vm:{image}", PATH=str(tmp_path)), 3, "qemu-system-x86")


def test_without_a_build_for_the_other_processor_the_command_that_makes_one_is_named(tmp_path):
    done = zerotax("doctor", "--on", f"vm:trixie,arch=aarch64,build={tmp_path}")
    refused(done, 3, str(tmp_path / "bin" / "zerotax"), "./run arm64")


def test_what_is_no_kernel_is_refused_with_what_qemu_says(tmp_path):
    if shutil.which("qemu-system-x86_64") is None:
        pytest.skip("no QEMU")
    image = tmp_path / "vmlinuz-1"
    image.write_bytes(b"no kernel" * 1000)
    refused(zerotax("doctor", "--on", f"vm:{image}", timeout=120), 3, "the virtual machine failed", "its last message: ")


@pytest.mark.parametrize(("full", "status"), [(True, 2), (False, 141)], ids=["full disk", "reader gone"])
def test_output_that_cannot_be_written_fails_as_it_does_here(full, status, tmp_path):
    """The command ends, and the file that it should write exists."""
    words = ["run", "--allocator", "glibc", "--size", "64KiB", "--audit-only", "--force", "--json", tmp_path / "run.json"]
    for place in ([], ["--on", "vm:bookworm"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        if full:
            os.close(write_end)
            write_end = os.open("/dev/full", os.O_WRONLY)
        done = subprocess.run([ZEROTAX, *map(str, [*words, *place])], env=clean_environment(XDG_CACHE_HOME=str(CACHE)),
                              stdout=write_end, stderr=subprocess.PIPE, text=True, check=False, timeout=600)
        os.close(write_end)
        assert or_skip(done).returncode == status, done.stderr
        assert json.loads((tmp_path / "run.json").read_text())["schema"] == "zerotax.run/1"


def test_the_console_goes_to_a_file_that_had_one_before_and_to_no_other(tmp_path):
    image, file = tmp_path / "vmlinuz-1", tmp_path / "console"
    image.write_bytes(b"no kernel" * 1000)
    file.write_text("notes\n")
    refused(zerotax("doctor", "--on", f"vm:{image}", ZEROTAX_VM_CONSOLE=str(file)), 2, "ZEROTAX_VM_CONSOLE", "did not write")
    assert file.read_text() == "notes\n"
    if shutil.which("qemu-system-x86_64") is None:
        return
    file.unlink()
    for _ in range(2):
        done = zerotax("doctor", "--on", f"vm:{image}", timeout=120, ZEROTAX_VM_CONSOLE=str(file))
        refused(done, 3, "the virtual machine failed")
        assert file.read_text().startswith("zerotax: the end of the console")


def test_mimalloc_1104_where_huge_pages_are_always_granted(tmp_path):
    """The reported case: calloc of 1 GB in a loop. mimalloc 2.0.9 writes zeros over the whole block, and version 3.6.0
    from Debian sid does not.
    """
    file = tmp_path / "run.json"
    done = or_skip(on("vm:trixie,thp=always,memory=6GiB", "run", "--allocator", "mimalloc", "--allocator", "jemalloc",
                      "--allocator", "later=deb:sid/libmimalloc3", "--size", "1GB", "--ops", 3, "--thp", "always",
                      "--timeout", 400, "--audit-only", "--json", file))
    assert done.returncode == 0, done.stderr
    run = json.loads(file.read_text())
    assert run["environment"]["thp"] == "always"
    mimalloc, jemalloc, later = run["points"]
    assert mimalloc["version"] != "2.0.9" or mimalloc["redundant_zeroed_bytes"] >= 10**9
    assert jemalloc["redundant_zeroed_bytes"] == later["redundant_zeroed_bytes"] == 0
    # A gigabyte that is never touched. With huge pages, the process holds hardly more memory than without.
    assert later["held"]["bytes"] - later["held"]["without_huge_bytes"] < 4 * MIB
