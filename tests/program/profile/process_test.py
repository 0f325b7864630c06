"""zerotax profile of a running process shows its threads, and does no harm."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest
from conftest import BUILD, NOBODY, ZEROTAX, check_schema, clean_environment, skip_if_unreadable, zerotax
from outside import Attached, build, open_folder, root_only
from waiting import wait_for

RECORDED = BUILD / "tests" / "recorded"


@pytest.fixture(scope="module", autouse=True)
def needs_sampling():
    if zerotax("profile", "--json", "-", "--", "/bin/true").returncode == 3:
        pytest.skip("this kernel permits no sampling")


class Waits:
    """Runs the program of this name, from the start of its threads until the test ends the program."""

    def __init__(self, name="waits"):
        self.process = subprocess.Popen([RECORDED / name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "started\n"
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Ends the program, and returns its output."""
        self.process.stdin.close()
        said = self.process.stdout.read()
        assert self.process.wait() == 0
        return said


def samples(watcher):
    """Returns whether the process `watcher` has started to sample."""
    return "perf_event" in pathlib.Path(f"/proc/{watcher.pid}/maps").read_text()


def functions(tree, before=()):
    for call in tree:
        path = (*before, call["function"])
        yield path
        yield from functions(call["children"], path)


def read_json(file):
    found = json.loads(file.read_text())
    check_schema(found, "profile")
    assert sum(thread["samples"] for thread in found["threads"]) == found["samples"]
    for thread in found["threads"]:
        assert sum(root["samples"] for root in thread["tree"]) == thread["samples"]
    return found


def check_waits(found):
    """Checks that each thread is in its known function."""
    where = {}
    for thread in found["threads"]:
        assert 0 < thread["samples"] <= found["method"]["looks"]
        for path in functions(thread["tree"]):
            for name in ("waits_in_read", "waits_in_epoll", "waits_for_condition", "computes", "main"):
                if name in path:
                    where.setdefault(name, set()).add(thread["tid"])
    assert sorted(where) == ["computes", "main", "waits_for_condition", "waits_in_epoll", "waits_in_read"]
    assert all(len(tids) == 1 for tids in where.values()), where
    waiting, = [e["samples"] for e in found["categories"] if e["category"] == "waiting"]
    computing = sum(t["samples"] for t in found["threads"] if t["tid"] in where["computes"])
    # Four of the five threads wait, except at their start.
    assert waiting > (found["samples"] - computing) / 2
    for name, calls in (("waits_in_read", "read"), ("waits_in_epoll", "epoll_wait")):
        assert any(name in path and path[path.index(name) + 1] == calls for thread in found["threads"]
                   for path in functions(thread["tree"]) if path[-1] == calls)


@pytest.mark.parametrize("name", ["waits", "waits-by-frame-pointer"])
def test_the_clock_on_the_wall_shows_threads_that_wait(tmp_path, name):
    file = tmp_path / "profile.json"
    done = subprocess.run([ZEROTAX, "profile", "--full", "--wall", "--json", file, "--", RECORDED / name, "1"],
                          capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 0 and done.stdout == "started\n0 interruptions\n", done.stderr
    found = read_json(file)
    check_waits(found)
    assert "computer" in {thread["name"] for thread in found["threads"]}
    assert max(map(len, done.stderr.splitlines())) <= 80


@pytest.mark.parametrize("name", ["waits", "waits-by-frame-pointer"])
def test_a_running_process_is_shown_as_sample_does(tmp_path, name):
    file = tmp_path / "profile.json"
    with Waits(name) as program:
        done = zerotax("profile", "--full", "--pid", program.pid, "--seconds", "0.5", "--wall", "--json", file)
        assert done.returncode == 0, done.stderr
        assert program.process.poll() is None, "it runs on"
        found = read_json(file)
        check_waits(found)
        assert any("main" in path and path[0] == "_start" for t in found["threads"] for path in functions(t["tree"]))
        process = found["process"]
        assert (process["pid"], process["parent_pid"], process["ended"]) == (program.pid, os.getpid(), False)
        assert process["path"] == str(RECORDED / name)
        maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text().split("-", 1)[0]
        assert int(process["load_address"], 16) == int(maps, 16)
        for words in ("Process:", "Parent:", "Launched:", "Load address:", "Version:", "Thread ", "Sort by top of stack"):
            assert words in done.stdout
        assert f"{name[:15]} [{program.pid}]" in done.stdout
        assert program.end() == "0 interruptions\n"


@root_only
def test_a_process_whose_first_thread_has_ended_is_sampled(tmp_path):
    file = tmp_path / "profile.json"
    with open_folder() as folder, Attached(build(folder, "gcc", "-static", "-g", "-O1"), "last", 20000) as target:
        wait_for(lambda: "State:\tZ" in pathlib.Path(f"/proc/{target.run.pid}/status").read_text())
        target.go_on()
        done = zerotax("profile", "--pid", target.run.pid, "--seconds", "0.5", "--json", file)
    assert done.returncode == 0, done.stderr
    found = read_json(file)
    assert "refill_here" in str(found["tree"]) and "running" not in found["process"]


@root_only
def test_a_daemon_that_runs_on_is_named(tmp_path):
    file = tmp_path / "profile.json"
    with open_folder() as folder:
        done = zerotax("profile", "--json", file, "--", build(folder, "gcc", "-static", "-g", "-O1"), "daemon", 1)
    found = json.loads(file.read_text())
    check_schema(found, "profile")
    assert len(found["process"]["running"]) == 1
    assert "1 process that it had started runs on" in " ".join(done.stderr.split())


def test_by_cpu_time_only_what_runs_is_shown(tmp_path):
    file = tmp_path / "profile.json"
    with Waits() as program:
        done = zerotax("profile", "--pid", program.pid, "--seconds", "0.5", "--json", file)
        assert done.returncode == 0, done.stderr
    found = read_json(file)
    most = found["threads"][0]
    assert most["name"] == "computer" and any("computes" in path for path in functions(most["tree"]))
    assert most["samples"] == found["samples"]
    assert found["user_s"] > 0


def test_where_zerotax_is_killed_the_process_runs_on():
    with Waits() as program:
        with subprocess.Popen([ZEROTAX, "profile", "--wall", "--pid", str(program.pid)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=clean_environment()) as watcher:
            assert wait_for(lambda: samples(watcher))
            time.sleep(0.3)
            watcher.kill()
        assert program.end() == "0 interruptions\n"


def sampled_until(program, file, end):
    """Samples the process by the wall clock, and calls end(watcher) after a while. Returns the status, the text, and
    the JSON.
    """
    with subprocess.Popen([ZEROTAX, "profile", "--full", "--wall", "--pid", str(program.pid), "--seconds", "60", "--json", file],
                          stdout=subprocess.PIPE, text=True, env=clean_environment()) as watcher:
        assert wait_for(lambda: samples(watcher))
        time.sleep(0.5)
        end(watcher)
        text, _ = watcher.communicate(timeout=20)
    return watcher.returncode, text, read_json(file)


def test_of_a_process_that_ends_what_was_sampled_is_kept(tmp_path):
    with Waits() as program:
        status, text, found = sampled_until(program, tmp_path / "profile.json", lambda _: program.end())
    assert status == 0
    assert found["process"]["ended"] and found["samples"] > 0 and "Call graph" in text


def test_an_interrupt_keeps_what_was_sampled(tmp_path):
    with Waits() as program:
        status, text, found = sampled_until(program, tmp_path / "profile.json",
                                            lambda watcher: watcher.send_signal(signal.SIGINT))
        assert status == 128 + signal.SIGINT
        assert program.process.poll() is None
    assert found["samples"] > 0 and "Call graph" in text


def test_a_static_program_is_sampled(tmp_path):
    file = tmp_path / "profile.json"
    done = zerotax("profile", "--by-thread", "--hz", "5000", "--json", file, "--", RECORDED / "static")
    found = read_json(file)
    assert done.returncode == found["exit_status"] == subprocess.run([RECORDED / "static"], check=False).returncode
    assert all("static" in thread["name"] for thread in found["threads"])


def refused(status, words, *arguments):
    done = zerotax("profile", *arguments)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.startswith("zerotax: ") and done.stderr.count("\n") == 1
    assert words in done.stderr


@pytest.mark.parametrize(("words", "arguments"), [
    ("invalid PID 0", ["--pid", "0"]),
    ("invalid PID -3", ["--pid", "-3"]),
    ("PID 1 is", ["--pid", "1"]),
    ("no process", ["--pid", str((1 << 22) + 7)]),
    ("--pid", ["--pid", "x"]),
    ("--seconds 0", ["--pid", str(os.getpid()), "--seconds", "0"]),
    ("--size", ["--pid", str(os.getpid()), "--size", "1MiB"]),
    ("--allocator", ["--pid", str(os.getpid()), "--allocator", "glibc"]),
    ("both", ["--pid", str(os.getpid()), "--", "/bin/true"]),
    ("--seconds", ["--seconds", "1", "--", "/bin/true"]),
], ids=" ".join)
def test_what_makes_no_sense_is_refused_in_one_line(words, arguments):
    refused(2, words, *arguments)


def test_zerotax_itself_a_thread_and_a_zombie_are_refused():
    done = subprocess.run(["/bin/sh", "-c", f'exec "{ZEROTAX}" profile --pid $$'], capture_output=True, text=True, check=False,
                          env=clean_environment())
    assert done.returncode == 2 and "itself" in done.stderr
    with Waits() as program:
        thread, = [t.name for t in pathlib.Path(f"/proc/{program.pid}/task").iterdir()
                   if (t / "comm").read_text() == "computer\n"]
        refused(2, f"process {program.pid}", "--pid", thread)
    with subprocess.Popen(["/bin/true"]) as program:
        status = pathlib.Path(f"/proc/{program.pid}/status")
        assert wait_for(lambda: "State:\tZ" in status.read_text())
        refused(2, "has ended", "--pid", program.pid)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_nobody_is_refused_the_process_of_another_user():
    skip_if_unreadable()
    with Waits() as program:
        done = subprocess.run([*NOBODY, ZEROTAX, "profile", "--pid", str(program.pid)], capture_output=True, text=True,
                              check=False, env=clean_environment(), cwd="/")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), done.stderr
        assert "another user" in done.stderr
        assert program.process.poll() is None
