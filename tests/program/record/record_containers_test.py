"""`zerotax record` outside and inside containers: other mount and PID namespaces, and few permissions."""

import contextlib
import json
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import MIB, NOBODY, PAGE, ZEROTAX, clean_environment, is_na, skip_if_unreadable, zerotax
from outside import Attached, Outcome, build, functions, open_folder, root_only, start_record
from recording import record

ROUNDS = 400
SUPPORT = pathlib.Path(__file__).parents[2] / "support"
DENYING = ["/usr/bin/python3", str(SUPPORT / "denying.py")]


@pytest.fixture(scope="module", name="static")
def static_program():
    with open_folder() as folder:
        yield build(folder, "gcc", "-static", "-g", "-O1", "-fno-builtin")


def watched(folder, target, *options, prefix=()):
    """Records a waiting process while the process does its work. Returns the faults of the process, and the recording.
    """
    started = start_record(folder, target.run.pid, "--seconds", 60, *options, prefix=prefix)
    target.go_on()
    faults = target.faults()
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    return faults, Outcome(folder, started, 130)


# The program lies in a file system that is mounted only in its namespace, like the layers of a container. Outside that
# namespace, another file has the program's path.
HIDDEN = 'mount -t tmpfs none "$0" && cp "$1" "$0/refills" && shift && '


@root_only
@pytest.mark.parametrize("enter", ['exec "$0/refills" "$@"', 'exec chroot "$0" /refills "$@"'], ids=["mount", "chroot"])
def test_a_program_in_another_mount_namespace_is_named_by_its_own_file(static, tmp_path, enter):
    inside = tmp_path / "inside"
    inside.mkdir()
    shutil.copy("/bin/true", inside / "refills")
    prefix = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", HIDDEN + enter, inside]
    with Attached(static, "map", ROUNDS, prefix=prefix) as target:
        # Outside the namespace, the program is the child of unshare.
        outer = target.run.pid
        [pid] = map(int, pathlib.Path(f"/proc/{outer}/task/{outer}/children").read_text().split())
        target.run.pid = pid
        faults, found = watched(tmp_path, target)
        target.run.pid = outer
    assert found.json["outside"]["pid"] == pid
    assert faults <= found.totals["kernel"]["minor_faults"] <= faults + 5
    first = found.json["sites"][0]
    assert "refill_here" in functions(first)
    assert any(not is_na(frame["file"]) and frame["file"].endswith("refills.c") for frame in first["frames"])


@contextlib.contextmanager
def paranoid(folder, level):
    """Yields a command prefix that runs a command as nobody while kernel.perf_event_paranoid has this level. At levels
    above 2, perf events are refused, as by Debian's kernels.
    """
    setting = folder / "paranoid"
    setting.write_text(f"{level}\n")
    yield ["unshare", "--mount", "sh", "-c", f'mount --bind {setting} /proc/sys/kernel/perf_event_paranoid && exec "$0" "$@"',
           *NOBODY, *DENYING, "--as", "debian"]


@root_only
@pytest.mark.parametrize("level", [3, 4])
def test_nobody_where_perf_events_are_roots_gets_what_proc_has(static, level):
    skip_if_unreadable()
    with open_folder() as folder, paranoid(folder, level) as prefix, Attached(static, "map", ROUNDS, prefix=NOBODY) as target:
        faults, found = watched(folder, target, prefix=prefix)
    kernel = found.totals["kernel"]
    assert faults <= kernel["minor_faults"] <= faults + 5
    assert is_na(kernel["zeroed_bytes"]) and kernel["zeroed_at_most_bytes"] >= ROUNDS * MIB
    assert found.json["sites"] == []
    text = " ".join(found.text.split())
    assert f"kernel.perf_event_paranoid is {level}" in text and "sysctl kernel.perf_event_paranoid=2" in text


# Docker's rights for root in a container: no CAP_SYS_ADMIN, CAP_SYS_PTRACE or CAP_PERFMON, and Docker's seccomp filter.
DROPPED = "-sys_admin,-sys_ptrace,-perfmon,-bpf,-sys_resource,-syslog,-sys_rawio,-sys_module"
DOCKER = ["setpriv", f"--bounding-set={DROPPED}", f"--inh-caps={DROPPED}", *DENYING]


@root_only
def test_root_in_a_container_gets_what_proc_has_and_is_told_what_gives_more(static, tmp_path):
    with Attached(static, "map", ROUNDS, prefix=DOCKER) as target:
        faults, found = watched(tmp_path, target, prefix=DOCKER)
    kernel = found.totals["kernel"]
    assert faults <= kernel["minor_faults"] <= faults + 5
    assert kernel["zeroed_at_least_bytes"] <= (16 + ROUNDS) * MIB + 200 * PAGE <= kernel["zeroed_at_most_bytes"] + 200 * PAGE
    assert found.json["outside"]["zeroed_by"] == "bounded" and found.json["sites"] == []
    text = " ".join(found.text.split())
    assert "a seccomp filter of this process, as containers have, denies perf_event_open" in text
    assert "docker run --cap-add PERFMON" in text
    done = subprocess.run([*DOCKER, ZEROTAX, "record", "--all", "--seconds", "1", "--json", tmp_path / "all.json"],
                          capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 0, done.stderr
    assert "docker run --cap-add PERFMON" in " ".join(done.stderr.split())
    assert json.loads((tmp_path / "all.json").read_text())["processes"] != []


@root_only
def test_top_in_a_container_needs_nothing_that_is_denied(static, tmp_path):
    inside = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *DOCKER]
    done = zerotax("top", "--once", "--json", tmp_path / "top.jsonl", prefix=inside)
    assert done.returncode == 0, done.stderr
    assert "only processes of this container are seen" in " ".join((done.stdout + done.stderr).split())


@root_only
def test_a_process_that_may_not_be_looked_at_is_counted_by_proc(static):
    """A process that is not dumpable (PR_SET_DUMPABLE), such as ssh-agent, has memory that even its own user may not
    read.
    """
    skip_if_unreadable()
    sealed = ["/usr/bin/python3", "-c", "import ctypes, sys\n"
              "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nprint('ready', flush=True)\ninput()\n"
              "for _ in range(100): bytearray(10**6)\nprint('1 2', flush=True)\ninput()"]
    with open_folder() as folder, subprocess.Popen([*NOBODY, *sealed], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                   text=True) as run:
        assert run.stdout.readline() == "ready\n"
        done = zerotax("record", "--pid", run.pid, "--seconds", 1, "--json", folder / "record.json", prefix=NOBODY)
        run.kill()
    assert done.returncode in (0, 3) and "terminate" not in done.stderr, done.stderr
    assert done.returncode == 0 or "cannot be inspected" in done.stderr


def test_a_started_program_needs_no_more(static):
    found = record(static, "map", 50, prefix=DENYING)
    assert found.status == 5 and found.json["outside"]["why_no_returns"] != ""
