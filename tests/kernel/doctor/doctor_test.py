"""`zerotax doctor` on this machine, on planted machines, as nobody and under a limit. doctor changes nothing."""

import json
import os
import shutil
import subprocess
import uuid
import pathlib

import pytest
from refusing import refused
from conftest import (
    MIB, NOBODY, ZEROTAX, check_schema, clean_environment, is_na, skip_if_unreadable, without_progress, zerotax)

STATUS = {"ready": 0, "spoiled": 1, "cannot measure": 3}
SETTINGS = ("/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/randomize_va_space", "/proc/sys/kernel/kptr_restrict",
            "/proc/sys/kernel/perf_event_paranoid", "/sys/kernel/mm/transparent_hugepage/enabled")


def doctor(*arguments, **how):
    done = zerotax("doctor", *arguments, "--json", "-", **how)
    assert without_progress(done.stderr) == "", done.stderr
    found = json.loads(done.stdout)
    check_schema(found, "doctor")
    assert done.returncode == STATUS[found["verdict"]]
    return found


def row(found, name, topic=None):
    rows = [each for each in found["rows"] if each["name"] == name and topic in (None, each["topic"])]
    assert len(rows) == 1, f"{len(rows)} rows {name}"
    return rows[0]


def test_this_machine_is_described_and_left_as_it_is():
    before = [open(path, encoding="ascii").read() for path in SETTINGS if os.path.exists(path)]
    found = doctor()
    assert before == [open(path, encoding="ascii").read() for path in SETTINGS if os.path.exists(path)]
    assert row(found, "version")["state"] == os.uname().release == found["environment"]["kernel"]
    assert row(found, "CPUs allowed")["state"].startswith(str(len(os.sched_getaffinity(0))))
    assert row(found, "probe")["weight"] == "ok"
    thp = row(found, "huge pages")["state"]
    assert thp == found["environment"]["thp"] or is_na(thp)
    pagemap = row(found, "pagemap")["state"]
    assert (pagemap == "PAGEMAP_SCAN") == found["environment"]["pagemap_scan"]


def test_the_text_fits_a_terminal_and_says_the_same(tmp_path):
    done = zerotax("doctor", "--full", "--json", tmp_path / "doctor.json")
    found = json.loads((tmp_path / "doctor.json").read_text())
    check_schema(found, "doctor")
    assert done.returncode == STATUS[found["verdict"]]
    # Remedies are meant to be copied, so each takes one line, however long.
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("          $ ")) <= 80
    for each in found["rows"]:
        assert f" {each['name']}" in done.stdout
        if each["remedy"]:
            assert f"$ {each['remedy']}\n" in done.stdout


def test_nobody_is_told_what_an_ordinary_user_cannot():
    if os.geteuid() != 0:
        pytest.skip("only root can become nobody")
    skip_if_unreadable()
    found = doctor(prefix=NOBODY)
    assert row(found, "tracepoints (tracefs)")["weight"] == "limits"
    assert found["environment"]["capabilities"]["root"] is False


def test_files_of_another_machine(tmp_path):
    for name, text in {
            "proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable: 65536 kB\nSwapTotal: 0 kB\n",
            "proc/self/status": "Cpus_allowed_list:\t0\nCapEff:\t0\n", "proc/loadavg": "0.00 0 0 1/1 1\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = doctor("--root", tmp_path)
    assert found["verdict"] == "cannot measure" and is_na(found["environment"])
    assert row(found, "available")["weight"] == "stops"
    assert row(found, "huge pages")["weight"] == "note"
    assert is_na(row(found, "write tracking")["state"])


def test_an_environment_that_allocators_read_spoils():
    found = doctor(MALLOC_CONF="retain:false")
    assert found["verdict"] in ("spoiled", "cannot measure")
    assert row(found, "environment")["state"] == "MALLOC_CONF"
    assert row(found, "environment")["remedy"] == "unset MALLOC_CONF"


def test_an_address_space_limit_is_seen():
    command = ["prlimit", f"--as={64 << 30}", ZEROTAX, "doctor", "--json", "-"]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    assert row(json.loads(done.stdout), "address space")["weight"] == "limits"


def cgroup_with_limit(limit):
    """Makes a cgroup with a memory limit, of version 2 or of version 1's memory controller. Skips the test if none can
    be made.
    """
    for base, file in ((pathlib.Path("/sys/fs/cgroup"), "memory.max"),
                       (pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes")):
        folder = base / f"zerotax-test-{uuid.uuid4().hex[:8]}"
        try:
            folder.mkdir()
        except OSError:
            continue
        # With cgroups of version 1, the parent folder is not always a cgroup.
        if (folder / file).exists() and (folder / "cgroup.procs").exists():
            (folder / file).write_text(str(limit))
            return folder
        folder.rmdir()
    pytest.skip("no cgroup can be made here")


def test_a_cgroup_limit_limits():
    folder = cgroup_with_limit(512 * MIB)
    try:
        enter = f'echo $$ > {folder}/cgroup.procs && exec "$0" "$@"'
        found = doctor(prefix=[shutil.which("sh"), "-c", enter])
        limit = row(found, "limit (cgroup)")
        assert limit["weight"] == "limits" and limit["state"].startswith("512 MiB, ")
        assert row(found, "available")["weight"] == "limits"
    finally:
        folder.rmdir()


def test_bad_arguments_are_refused(tmp_path):
    refused(zerotax("doctor", "--json", "/no/such/folder/x.json", cwd=tmp_path), "/no/such/folder", "write")
    refused(zerotax("doctor", "now", cwd=tmp_path), "now", "--help")
