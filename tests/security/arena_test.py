"""The memory that a recorded program shares with `zerotax record`. No other process can open this memory, and no
process can shrink it. A program that writes into this memory harms neither the command nor another program.
"""

import json
import os
import re
import shutil
import subprocess
import textwrap

import pytest
from conftest import NOBODY, SOURCE, ZEROTAX, clean_environment, skip_if_unreadable, zerotax
from recording import KNOWN, record

root_only = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
NOBODY_ID = 65534

# Opens every file of root that it can open, until its standard input is closed. Then prints the paths of these files.
ATTACKER = """
import glob, os, select, sys

got = set()
looks = 0
while not (looks > 3 and select.select([0], [], [], 0)[0]):
    looks += 1
    found = glob.glob("/dev/shm/*") + glob.glob("/dev/shm/*/*") + glob.glob("/tmp/zerotax*/*")
    for folder in glob.glob("/proc/[0-9]*/fd") + glob.glob("/proc/[0-9]*/map_files"):
        try:
            found += [f"{folder}/{name}" for name in os.listdir(folder) if os.stat(folder).st_uid == 0]
        except OSError:
            pass
    for path in found:
        try:
            names = path + os.path.realpath(path)
            # skips files of other programs, and folders of other tests
            if "zerotax" not in names or "zerotax-security-" in names:
                continue
            # files that root does not own belong to other tests
            if os.stat(path).st_uid != 0:
                continue
            fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        except OSError:
            continue
        got.add(path)
        try:
            os.ftruncate(fd, 0)
        except OSError:
            pass
        os.close(fd)
print("looked", looks > 3, sorted(got))
"""

BUSY = """
import sys, time
print("begun", flush=True)
sys.stdin.readline()
blocks = [bytearray(300_000) for _ in range(200)]
print("work is done")
"""


def shared_files():
    return sorted(name for name in os.listdir("/dev/shm") if "zerotax" in name)


@root_only
def test_nobody_else_can_open_it(tmp_path):
    before = shared_files()
    with subprocess.Popen([ZEROTAX, "record", "--text", tmp_path / "text", "--calls", tmp_path / "x.calls", "--",
                           "/usr/bin/python3", "-c", BUSY],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()) as run:
        assert run.stdout.readline() == "begun\n"
        made = [name for name in shared_files() if name not in before]
        with subprocess.Popen([*NOBODY, "/usr/bin/python3", "-c", ATTACKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as attacker:
            said = attacker.communicate(timeout=240)[0]
        out = run.communicate("\n", timeout=240)[0]
    assert said == "looked True []\n"
    assert (run.returncode, out) == (0, "work is done\n")
    assert not made, "and there is no name to find"


def test_it_belongs_to_its_user_and_keeps_its_size(tmp_path):
    # With --calls, the program shares two files.
    program = textwrap.dedent("""
        import errno, os, stat
        for name in ("ZEROTAX_RECORD", "ZEROTAX_CALLS"):
            path = os.environ[name]
            status = os.stat(path)
            assert stat.S_IMODE(status.st_mode) == 0o600 and status.st_uid == os.geteuid(), oct(status.st_mode)
            for size in (0, status.st_size // 2, status.st_size * 2):
                try:
                    os.truncate(path, size)
                    print("its size became", size)
                except OSError as failure:
                    assert failure.errno == errno.EPERM, failure
        print("it kept its size")
        """)
    done = zerotax("record", "--text", tmp_path / "text", "--calls", tmp_path / "x.calls", "--", "/usr/bin/python3", "-c",
                   program)
    assert (done.returncode, done.stdout) == (0, "it kept its size\n"), done.stderr


def test_a_program_that_closes_all_descriptors_is_followed():
    program = ("import os, subprocess; os.closerange(3, 2000); "
               f"subprocess.run([{str(KNOWN)!r}], close_fds=True, stdout=subprocess.DEVNULL)")
    found = record("/usr/bin/python3", "-c", program)
    [known] = found.processes("known")
    assert known["figures"]["calloc_calls"] == 1015


AS_NOBODY = f"""
import os, sys
close = sys.argv[1] == "close"
if os.fork() == 0:
    os.setgroups([])
    os.setgid({NOBODY_ID})
    os.setuid({NOBODY_ID})
    bytearray(1_000_000)
    if close:
        os.closerange(3, 2000)
    os.execv(sys.argv[2], [sys.argv[2]])
os.wait()
"""


@root_only
def test_a_program_that_changes_its_user_is_followed_by_its_descriptor():
    skip_if_unreadable()
    found = record("/usr/bin/python3", "-c", AS_NOBODY, "keep", KNOWN)
    [known] = found.processes("known")
    assert known["figures"]["calloc_calls"] == 1015 and known["ended"] == "exit"


@root_only
def test_one_that_closed_the_descriptor_too_is_reported_as_not_followed():
    skip_if_unreadable()
    found = record("/usr/bin/python3", "-c", AS_NOBODY, "close", KNOWN)
    assert found.status == 0 and not found.processes("known")
    [missed] = [m for m in found.json["not_followed"] if m["program"].endswith("known")]
    assert "runs as another user" in missed["reason"] and "descriptor was closed" in missed["reason"]


@root_only
def test_a_program_without_proc_is_followed():
    found = record("unshare", "-m", "sh", "-c", f"mount -t tmpfs none /proc && exec {KNOWN}")
    if found.status in (1, 32):
        pytest.skip("no mount namespace here")
    # Without /proc, the program's name is unknown, too.
    assert 1015 in [p["figures"]["calloc_calls"] for p in found.json["processes"]]


@pytest.fixture(scope="module")
def scribbler(tmp_path_factory):
    program = tmp_path_factory.mktemp("scribbler") / "scribbler"
    subprocess.run(["cc", "-O1", "-o", program, SOURCE / "tests" / "security" / "scribbler.c"], check=True)
    return program


@pytest.mark.parametrize("seed", range(8))
def test_a_program_that_overwrites_it_harms_neither_itself_nor_the_command(scribbler, tmp_path, seed):
    found, report = tmp_path / "x.calls", tmp_path / "record.json"
    command = [ZEROTAX, "record", "--json", report, "--calls", found, "--", scribbler, str(seed), str((1, 30, 300)[seed % 3])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=clean_environment()) as run:
        out, err = run.communicate(timeout=240)
    assert run.returncode == 0 and out.endswith("done\n"), err
    for process in json.loads(report.read_text())["processes"]:
        assert process["pid"] > 0
    assert not re.search("defect in zerotax|terminate|Sanitizer|std::", err), err
    # A damaged recording is replayed or refused.
    replayed = zerotax("replay", found, "--allocator", "glibc", "--timeout", "60")
    assert replayed.returncode in (0, 1, 2, 3), replayed.stderr
    assert not re.search("defect in zerotax|terminate|std::", replayed.stderr), replayed.stderr


def test_damage_is_reported(tmp_path):
    """A program overwrites all texts and lengths in its own slot. No metric of this slot may be trusted."""
    program = textwrap.dedent("""
        import os, re
        arena = os.open(os.environ["ZEROTAX_RECORD"], os.O_RDWR)
        maps = open("/proc/self/maps").read()
        for line in re.findall(r"^.*zerotax-arena.*$", maps, re.MULTILINE):
            offset = int(line.split()[2], 16)
            if offset != 0:  # a slot: what follows the PIDs of its process
                os.pwrite(arena, b"\\xff" * 2000, offset + 16)
        print("written")
        """)
    found = record("/usr/bin/python3", "-c", program)
    assert (found.status, found.out) == (0, "written\n")
    assert not found.json["processes"]
    assert [m["reason"] for m in found.json["not_followed"] if "was overwritten" in m["reason"]], found.json["not_followed"]


def test_nothing_stays_where_there_are_hardly_any_descriptors():
    before = shared_files()
    for most in range(3, 12):
        done = subprocess.run(["sh", "-c", f"ulimit -n {most}; exec {ZEROTAX} record -- true"], env=clean_environment(),
                              capture_output=True, text=True, check=False, timeout=240)
        assert done.returncode in (0, 2, 3, 127), (most, done)
    assert shared_files() == before
