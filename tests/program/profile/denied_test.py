"""A seccomp filter denies perf events, as in most containers. zerotax profile names this cause, and still reports the
data of /proc.
"""

import json
import os
import platform
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, NOBODY, SOURCE, check_schema, open_to_nobody, skip_if_unreadable, zerotax

FAULTY = BUILD / "tests" / "recorded" / "faulty"
WAITS = BUILD / "tests" / "recorded" / "waits"
DENYING = [sys.executable, SOURCE / "tests" / "support" / "denying.py"]

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the filter has the numbers of x86-64")


@pytest.fixture(scope="module", autouse=True)
def needs_filters():
    if subprocess.run([*DENYING, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no filter can be installed here")


@pytest.fixture(params=["root", "nobody"], name="user")
def fixture_user(request):
    """Returns the words that run a command as this user."""
    if os.geteuid() != 0 and request.param == "root":
        pytest.skip("only root")
    if request.param == "nobody" and os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is missing: install util-linux")
        skip_if_unreadable()
        return NOBODY
    return []


class Running:
    """A running program of this user."""

    def __init__(self, user, *words):
        self.process = subprocess.Popen([*user, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "started\n"

    def __enter__(self):
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def names_the_filter(text):
    """Checks that the text names the filter, regardless of line breaks."""
    text = " ".join(text.split())
    assert "a seccomp filter" in text and "denies perf_event_open" in text, text
    assert "sysctl" not in text and "--security-opt seccomp=unconfined" in text, text


@pytest.mark.parametrize("words", [
    ["profile", "--", "/bin/true"],
    ["profile", "--size", "1MiB", "--seconds", "0.1"],
    ["cow", "--", "/bin/true"],
    ["cow", "--pid"],
    ["trace", "run", "--kernel", "--out", "trace", "--", "/bin/true"],
], ids=" ".join)
def test_every_command_names_the_filter(tmp_path, user, words):
    open_to_nobody(tmp_path)
    with Running(user, FAULTY, "600") as pid:
        words = [*words, str(pid)] if words[-1] == "--pid" else words
        done = zerotax(*words, prefix=[*DENYING, *user], cwd="/" if words[0] != "trace" else tmp_path)
    assert (done.returncode, done.stdout) == (3, ""), (done.stdout, done.stderr)
    assert done.stderr.startswith("zerotax: ") and done.stderr.count("\n") == 1, done.stderr
    names_the_filter(done.stderr)


def test_a_running_process_has_the_account_of_proc(user):
    with Running(user, FAULTY, "600") as pid:
        done = zerotax("profile", "--pid", pid, "--seconds", "1", "--json", "-", prefix=[*DENYING, *user])
        text = zerotax("profile", "--full", "--pid", pid, "--seconds", "1", prefix=[*DENYING, *user])
    assert done.returncode == text.returncode == 3, done.stderr
    found = json.loads(done.stdout[done.stdout.index("{"):])
    check_schema(found, "profile")
    names_the_filter(found["method"]["samples_of"]["na"])
    categories = {entry["category"]: entry for entry in found["categories"]}
    for name in ("zeroing", "filling", "program", "allocator", "page faults", "mapping calls", "other kernel"):
        assert "na" in categories[name]["samples"], name
    # On a busy machine, the kernel may count no tick in user mode for the program.
    kernel, user_mode = (categories.get(name, {"samples": 0})["samples"]
                         for name in ("kernel (cause unknown)", "running (not sampled)"))
    assert kernel + user_mode == found["samples"] == found["accounted"] and kernel > 0
    assert categories["page faults"]["at_most"] == kernel
    assert found["page_faults"]["taken"] > 1000 and "na" in found["page_faults"]["samples"]
    names_the_filter(text.stdout)
    assert "Call graph" not in text.stdout and "kernel (cause unknown)" in text.stdout


def test_threads_that_wait_are_shown_as_ever(tmp_path):
    file = tmp_path / "profile.json"
    with Running([], WAITS) as pid:
        done = zerotax("profile", "--wall", "--pid", pid, "--seconds", "1", "--json", file, prefix=DENYING)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    check_schema(found, "profile")
    tops = {row["function"] for row in found["top_of_stack"]}
    assert {"(kernel, not sampled)", "(user mode, not sampled)"} & tops
    waiting, = [entry["samples"] for entry in found["categories"] if entry["category"] == "waiting"]
    assert waiting > found["samples"] / 3
    names_the_filter(done.stdout)


def test_doctor_names_the_filter(user):
    done = zerotax("doctor", "--json", "-", prefix=[*DENYING, *user])
    rows = {row["name"]: row for row in json.loads(done.stdout[done.stdout.index("{"):])["rows"]}
    perf = rows["perf events"]
    assert perf["weight"] == "limits" and "seccomp filter" in perf["state"]["na"], perf
    assert perf["remedy"].startswith("docker run --cap-add PERFMON")
    assert "seccomp filter" in rows["write tracking"]["state"]["na"]
    if not user:
        assert "seccomp filter" in rows["tracepoints (tracefs)"]["state"]["na"]


def test_without_a_filter_none_is_named(user):
    if not user:
        pytest.skip("root may, without a filter")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        level = int(file.read())
    done = zerotax("profile", "--", "/bin/true", prefix=user, cwd="/")
    assert (done.returncode == 3) == (level > 2) and "seccomp" not in done.stderr
