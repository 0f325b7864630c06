"""`zerotax record` from outside, for a container, a cgroup, and all processes."""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import time

import pytest
from conftest import MIB, NOBODY, PAGE, ZEROTAX, clean_environment, is_na, mostly_long, skip_if_unreadable, zerotax
from outside import Attached, Outcome, build, functions, open_folder, root_only, start_record, wait_until_it_watches
from waiting import wait_for

ROUNDS = 400


@pytest.fixture(scope="module", name="static")
def static_program():
    with open_folder() as folder:
        yield build(folder, "gcc", "-static", "-g", "-O1", "-fno-builtin")


def process_of(begin, part):
    """Returns the PID, in this namespace, of a process whose command line begins with the first text and contains the
    second. Returns 0 if there is no such process yet.
    """
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_text(errors="replace")
            if line.startswith(begin) and part in line:
                return int(folder.name)
    return 0


@root_only
def test_pid_1_of_a_container_is_a_program(static, tmp_path):
    """The recording excludes zerotax itself, which runs in the same container. zerotax must end before PID 1, whose end
    stops all processes of the container.
    """
    script = f"""
        (sleep 1; exec "{ZEROTAX}" record --pid 1 --seconds 60 --json "{tmp_path}/record.json" --text "{tmp_path}/record.txt") &
        exec "{static}" map {ROUNDS} attach
    """
    with subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()) as run:
        assert run.stdout.readline() == "ready\n"
        recorder = wait_for(lambda: process_of(f"{ZEROTAX}\0record\0--pid\0001\0", str(tmp_path)))
        wait_until_it_watches(recorder)
        run.stdin.write("\n")
        run.stdin.flush()
        before, after = map(int, run.stdout.readline().split())
        time.sleep(0.3)
        os.kill(recorder, signal.SIGINT)
        wait_for(lambda: (tmp_path / "record.txt").exists())
        run.stdin.write("\n")
        run.stdin.close()
        assert run.wait() == 5
    found = Outcome(tmp_path)
    assert found.json["outside"]["pid"] == 1
    assert after - before <= found.totals["kernel"]["minor_faults"] <= after - before + 5
    assert [process["pid"] for process in found.json["processes"]] == [1]
    assert "refill_here" in functions(found.json["sites"][0])


@contextlib.contextmanager
def cgroup():
    """Makes a cgroup of version 2. Yields the cgroup's folder and path."""
    mounts = [line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    mount = next((pathlib.Path(words[1]) for words in mounts if words[2] == "cgroup2"), None)
    if mount is None or os.geteuid() != 0:
        pytest.skip("no cgroup can be made")
    folder = mount / f"zerotax-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made: {error}")
    try:
        yield folder, f"/{folder.name}"
    finally:
        wait_for(lambda: (folder / "cgroup.procs").read_text() == "")
        folder.rmdir()


def joins(folder, *command):
    """Returns a command that joins the cgroup."""
    return ["sh", "-c", f"echo $$ > {shlex.quote(str(folder / 'cgroup.procs'))}; exec {shlex.join(map(str, command))}"]


@contextlib.contextmanager
def resident(folder):
    """Runs an idle process in the cgroup."""
    with subprocess.Popen(joins(folder, "sleep", "100")) as run:
        assert wait_for(lambda: str(run.pid) in (folder / "cgroup.procs").read_text().split())
        yield run
        run.kill()


def record_while(folder, scope, work, seconds=60):
    """Records a scope while work() runs. The recording must not contain zerotax itself."""
    started = subprocess.Popen([ZEROTAX, "record", *scope, "--seconds", str(seconds), "--json", folder / "record.json",
                                "--text", folder / "record.txt"], stderr=subprocess.PIPE, text=True, env=clean_environment())
    wait_until_it_watches(started.pid)
    result = work()
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    found = Outcome(folder, started, 130)
    assert started.pid not in [process["pid"] for process in found.json["processes"]]
    return result, found


@root_only
@pytest.mark.parametrize("called", mostly_long(["path", "folder", "line"], ["path"], "the same by another name"))
def test_programs_that_join_a_cgroup_are_recorded_page_by_page(static, tmp_path, called):
    with cgroup() as (folder, path), resident(folder):
        name = {"path": path, "folder": str(folder), "line": f"0::{path}"}[called]

        def work():
            with subprocess.Popen(joins(folder, static, "map", ROUNDS, "attach"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, bufsize=1) as run:
                assert run.stdout.readline() == "ready\n"
                run.stdin.write("\n")
                counts = run.stdout.readline()
                time.sleep(0.5)  # if a process ends at once, its last rounds may not be seen
                run.stdin.write("\n")
                assert run.wait() == 5
            forks = subprocess.run(joins(folder, static, "forks", 100), stdout=subprocess.PIPE, text=True, check=False)
            # This program runs outside the cgroup, so its faults must not count.
            subprocess.run([static, "map", "300"], stdout=subprocess.DEVNULL, check=False)
            assert forks.returncode == 5
            return [list(map(int, text.split())) for text in (counts, forks.stdout)]

        counted, found = record_while(tmp_path, ["--cgroup", name], work)
    faults = sum(last - first for first, last in counted) + 100 * MIB // PAGE
    kernel = found.totals["kernel"]
    # A shell, a static program and a child of fork take some faults to begin and end.
    assert faults <= kernel["minor_faults"] <= faults + 2 * 600 + 100 * 60
    zeroed = (16 + ROUNDS + 100) * MIB
    assert zeroed <= kernel["zeroed_bytes"] <= zeroed + (2 * 400 + 100 * 30) * PAGE
    assert 0.95 * (ROUNDS - 1) * MIB <= kernel["refilled_bytes"] <= 1.05 * (ROUNDS - 1) * MIB
    outside = found.json["outside"]
    assert (outside["watched"], outside["cgroup"], outside["zeroed_by"]) == ("cgroup", path, "counted")
    assert found.json["command"] == [] and is_na(found.json["run"]["exit_status"])
    assert "refill_here" in functions(found.json["sites"][0])
    text = " ".join(found.text.split())
    assert f"Watched: cgroup {path}, for" in text and "refills map 400" in text


@pytest.mark.long("a recording more")
@root_only
def test_a_process_may_join_a_cgroup_while_it_runs(static, tmp_path):
    """Faults that a process took before it joined the cgroup do not count."""
    with cgroup() as (folder, path), resident(folder), Attached(static, "map", ROUNDS) as target:

        def work():
            (folder / "cgroup.procs").write_text(str(target.run.pid))
            time.sleep(0.2)
            target.go_on()
            return target.faults()

        faults, found = record_while(tmp_path, ["--cgroup", path], work)
        target.run.kill()
    assert faults <= found.totals["kernel"]["minor_faults"] <= faults + 10
    assert "refill_here" in functions(found.json["sites"][0])


@root_only
def test_all_that_runs_is_recorded_but_zerotax(static, tmp_path):
    def work():
        # The program runs long enough to be sampled even if the machine has many other processes.
        with subprocess.Popen([static, "map", "1000000000"], stdout=subprocess.DEVNULL) as run:
            time.sleep(3)
            with open(f"/proc/{run.pid}/stat", encoding="ascii") as stat:
                faults = int(stat.read().rsplit(") ", 1)[1].split()[7])
            run.kill()
        return faults

    faults, found = record_while(tmp_path, ["--all"], work)
    assert found.json["outside"]["watched"] == "machine"
    kernel = found.totals["kernel"]
    assert kernel["minor_faults"] >= faults
    # Other processes of the machine may have shared memory. In that case, only a bound is known.
    zeroed = kernel["zeroed_at_most_bytes"] if is_na(kernel["zeroed_bytes"]) else kernel["zeroed_bytes"]
    # If another test's program populates pages of hugetlbfs, no bound is known either.
    assert "hugetlbfs" in zeroed["na"] if is_na(zeroed) else zeroed >= 0.99 * faults * PAGE
    # If hundreds of compilers run, there may be no time to process each sample.
    assert found.json["outside"]["lost_records"] or any("refill_here" in functions(site) for site in found.json["sites"])
    assert "Watched: all processes, for" in " ".join(found.text.split())
    assert any(process["executable"] == str(static) for process in found.json["processes"])


@pytest.mark.long("as another user")
@root_only
def test_nobody_records_their_processes_and_what_these_start(static):
    skip_if_unreadable()
    with open_folder() as folder, Attached(static, "map", ROUNDS, prefix=NOBODY) as target:
        started = start_record(folder, None, "--all", "--seconds", 60, prefix=NOBODY)
        target.go_on()
        faults = target.faults()
        started.send_signal(signal.SIGINT)
        found = Outcome(folder, started, 130)
    assert found.json["outside"]["watched"] == "user"
    assert faults <= found.totals["kernel"]["minor_faults"]
    assert any("refill_here" in functions(site) for site in found.json["sites"][:3])
    text = " ".join(found.text.split())
    assert "Only processes of this user were watched" in text and "if a watched process started them" in text


@pytest.mark.long("as another user")
@root_only
def test_nobody_records_their_part_of_a_cgroup(static):
    skip_if_unreadable()
    with cgroup() as (folder, path), resident(folder), open_folder() as out:
        done = zerotax("record", "--cgroup", path, "--seconds", 1, prefix=NOBODY)
        assert done.returncode == 3 and done.stderr.count("\n") == 1
        assert f"all processes in the cgroup {path} belong to other users" in done.stderr
        join = f"echo $$ > {folder}/cgroup.procs; exec {shlex.join(NOBODY)} \"$0\" \"$@\""
        with Attached(static, "map", ROUNDS, prefix=["sh", "-c", join]) as target:
            started = start_record(out, None, "--cgroup", path, "--seconds", 60, prefix=NOBODY)
            target.go_on()
            faults = target.faults()
            started.send_signal(signal.SIGINT)
            found = Outcome(out, started, 130)
        assert faults <= found.totals["kernel"]["minor_faults"] <= faults + 10
        assert "Not watched: 1 process of other users." in " ".join(found.text.split())


def refused(*words, status=2):
    done = zerotax("record", *words)
    assert done.returncode == status, (done.returncode, done.stderr)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and done.stderr.startswith("zerotax: "), done.stderr
    return done.stderr


def test_scopes_that_make_no_sense_are_refused_in_one_line():
    assert "there is no cgroup '/absent'" in refused("--cgroup", "/absent")
    assert "there is no cgroup '/etc'" in refused("--cgroup", "/etc")
    assert "both --pid and --cgroup" in refused("--pid", os.getpid(), "--cgroup", "/")
    assert "both --cgroup and --all" in refused("--cgroup", "/", "--all")
    assert "both --all and a command" in refused("--all", "--", "true")
    with cgroup() as (_, path):
        assert f"no process runs in the cgroup {path}" in refused("--cgroup", path)
