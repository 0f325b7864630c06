"""A recorded program may end in any way and execute other programs. The recording contains all that was seen of the
program, and the program ends as it would alone.
"""

import os
import platform
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from conftest import BUILD, MIB, NOBODY, PAGE, ZEROTAX, clean_environment, skip_if_unreadable, zerotax
from recording import ENDING, KNOWN, PROGRAMS, record

root_only = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")


def large_callocs(process):
    """Returns the number of a process's calls to calloc for 1 MiB. The tested programs make no other large calls to
    calloc.
    """
    figures = process["figures"]
    return figures["requested_bytes"] // MIB


@pytest.mark.parametrize("how, status, ended", [
    ("crash", 128 + signal.SIGSEGV, "SIGSEGV"), ("kill", 128 + signal.SIGKILL, "SIGKILL"),
    ("abort", 128 + signal.SIGABRT, "SIGABRT"), ("_exit", 7, "exit"), ("return", 7, "exit")])
def test_a_program_that_ends_early_leaves_what_it_did(how, status, ended):
    found = record(ENDING, how)
    [process] = found.json["processes"]
    assert found.status == found.json["run"]["exit_status"] == status
    assert large_callocs(process) == process["figures"]["calloc_calls"] == 5
    assert process["ended"] == ended


def test_a_thread_that_never_allocated_may_end_the_program():
    found = record(ENDING, "end-in-thread")
    assert found.status == 7
    [process] = found.json["processes"]
    assert process["kernel"]["zeroed_bytes"] > 0
    [held] = [s for s in found.json["sites"] if s["kind"] == "malloc" and s["requested_bytes"] == 8 * MIB]
    assert held["kernel_zeroed_bytes"] >= PAGE


def test_closing_every_descriptor_loses_nothing():
    found = record(ENDING, "close-all")
    assert found.status == 7
    [process] = found.json["processes"]
    assert large_callocs(process) == 8


@pytest.mark.parametrize("how", ["exec", "execl"])
def test_exec_is_followed(how):
    found = record(ENDING, how, ENDING, "_exit")
    assert found.status == 7
    first, second = found.processes("ending")
    assert first["pid"] == second["pid"]
    assert (first["ended"], second["ended"]) == ("exec", "exit")
    assert (large_callocs(first), large_callocs(second)) == (5, 5)
    assert found.json["not_followed"] == []


def test_an_exec_that_fails_changes_nothing():
    found = record(ENDING, "exec-missing")
    assert found.status == 7 and found.json["not_followed"] == []
    [process] = found.json["processes"]
    assert process["ended"] == "exit"


@pytest.mark.parametrize("how, program, why", [
    ("exec-clean", ENDING, "an environment without LD_PRELOAD"), ("exec", PROGRAMS / "static", "statically linked")])
def test_what_cannot_be_followed_is_named(how, program, why):
    found = record(ENDING, how, program, "_exit")
    [process] = found.json["processes"]
    assert process["ended"] == "exec" and large_callocs(process) == 5
    [missed] = found.json["not_followed"]
    assert missed["program"] == str(program) and why in missed["reason"]
    assert "was not recorded" in " ".join(found.text.split())


@pytest.mark.parametrize("way", ["same-memory", "vfork"])
def test_a_child_with_its_parents_memory_is_not_called_idle(way):
    found = record(PROGRAMS / "shared", way)
    assert all("shared its parent's memory" in missed["reason"] for missed in found.json["not_followed"])


@pytest.mark.parametrize("how", ["fork-thread", "raw-fork"])
def test_a_child_counts_for_itself(how):
    found = record(ENDING, how)
    assert found.status == 7
    parent, child = found.json["processes"]
    assert (parent["began"], child["began"]) == ("exec", "fork")
    assert child["parent_pid"] == parent["pid"]
    assert (large_callocs(parent), large_callocs(child)) == (5, 3)


@root_only
def test_who_gave_up_root_and_its_files_is_still_counted():
    found = record(ENDING, "nobody")
    assert found.status == 7
    parent, child = found.json["processes"]
    assert child["parent_pid"] == parent["pid"] and not parent["gaps"]
    assert (large_callocs(parent), large_callocs(child)) == (8, 2)


@root_only
def test_who_closed_all_descriptors_too_is_counted_in_its_parent():
    found = record(ENDING, "nobody-closed")
    assert found.status == 7
    [process] = found.json["processes"]
    assert large_callocs(process) == 10
    assert any("children of fork" in gap for gap in process["gaps"])


def test_more_threads_than_there_is_room_for_are_summed_up():
    found = record(ENDING, "many-threads")
    [process] = found.json["processes"]
    assert process["gaps"] == []
    row = found.size_class(70_000)
    assert (row["calloc_calls"], row["requested_bytes"]) == (700, 700 * 70_000)
    assert sum(t["threads"] for t in process["threads"]) == 701


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_program_and_not_the_report(number, tmp_path):
    text = tmp_path / "report.txt"
    with subprocess.Popen([ZEROTAX, "record", "--text", text, "--", ENDING, "signal"], stdout=subprocess.PIPE,
                          env=clean_environment(), start_new_session=True) as run:
        assert run.stdout.readline() == b"ready\n"
        if number == signal.SIGINT:  # the signal goes to the whole foreground group, as from a terminal
            os.killpg(run.pid, number)
        else:
            run.send_signal(number)
        assert run.wait(timeout=30) == 128 + number
    assert f"was killed by {signal.Signals(number).name}" in " ".join(text.read_text().split())


@pytest.mark.parametrize("command", [["record", "--text", "/dev/null"], ["trace", "run", "-o", "trace"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_command_alone_ends_the_program_as_well(command, number, tmp_path):
    with subprocess.Popen([ZEROTAX, *command, "--", ENDING, "signal"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env=clean_environment(), start_new_session=True, cwd=tmp_path) as run:
        assert run.stdout.readline() == b"ready\n"
        run.send_signal(number)
        assert run.wait(timeout=30) == 128 + number


def test_a_signal_that_was_ignored_stays_ignored():
    program = "sh -c 'kill -HUP $$; kill -PIPE $$; echo lives'"
    done = subprocess.run(["sh", "-c", f"trap '' HUP PIPE; {ZEROTAX} record --text /dev/null -- {program}"],
                          env=clean_environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "lives\n")


def test_sigpipe_still_ends_who_would_be_ended_by_it():
    done = zerotax("record", "--text", "/dev/null", "--", "bash", "-c", "kill -PIPE $$; echo lives")
    assert (done.returncode, done.stdout) == (128 + signal.SIGPIPE, "")


def test_standard_streams_and_words_are_untouched():
    words = ["[a,b]", "", "--", "--json", "{}", "%d", "a b"]
    found = record("/usr/bin/python3", "-c", "import sys; print(sys.argv[1:], sys.stdin.read(), end=''); sys.exit(41)",
                   *words, stdin="some\ninput")
    assert found.out == f"{words} some\ninput" and found.err == "" and found.status == 41


def test_the_report_goes_to_standard_error_and_nothing_is_left_behind():
    done = zerotax("record", "--", "sh", "-c", 'test -e "$ZEROTAX_RECORD" && echo "$ZEROTAX_RECORD"; exit 3')
    assert done.returncode == 3
    assert re.match(r"sh (and 1 other process )?(spent|used) ", done.stderr) and "! sh exited with 3." in done.stderr
    arena = pathlib.Path(done.stdout.strip())
    assert arena.is_absolute() and not arena.exists() and not arena.parent.exists()


@pytest.mark.parametrize("name", ["glibc", "jemalloc", "largecache", "tcmalloc"])
def test_threads_that_count_and_fork_at_once_lose_nothing(name):
    found = record(PROGRAMS / "threads", options=["--allocator", name])
    assert found.status == 0
    parent, *children = found.json["processes"]
    assert len(children) == 8 and {c["began"] for c in children} == {"fork"}
    row = found.size_class(100_000)
    assert (row["calloc_calls"], row["requested_bytes"]) == (8 * 500, 8 * 500 * 100_000)
    assert found.size_class(70_000)["by_hand_zeroed_bytes"] == 8 * 200 * 70_000
    assert found.size_class(200)["requested_bytes"] >= 8 * 20_000 * 200
    for child in children:
        assert child["figures"]["requested_bytes"] >= 3 * 2_000_000 and len(child["threads"]) == 1
    workers = [t for t in parent["threads"] if t["figures"]["calloc_calls"] >= 20_500]
    assert len(workers) == 8
    by_kind = {kind: sum(s["calls"] for s in found.json["sites"] if s["kind"] == kind) for kind in ("calloc", "by_hand")}
    assert by_kind == {"calloc": 8 * 500 + 8 * 3, "by_hand": 8 * 200}


def test_what_is_left_running_is_reported_as_it_is_now():
    # The loop waits until the child runs sleep, because otherwise the recording may end first.
    found = record("sh", "-c", "sleep 20 >/dev/null 2>&1 & echo $!; "
                   "for i in $(seq 500); do grep -q sleep /proc/$!/comm && grep -q arena /proc/$!/maps && break; done; sleep 0.3")
    pid = int(found.out)
    try:
        assert os.kill(pid, 0) is None
        [left] = [p for p in found.json["processes"] if p["pid"] == pid and p["ended"] == "running"]
        assert left["executable"].endswith("sleep") or left["began"] == "fork"
        assert f"Process {pid} still runs" in found.text
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare")
def test_a_full_file_system_ends_the_recording_and_not_the_program(tmp_path):
    # The recorder never creates an arena without room. Therefore a copy of an empty arena is put on a small file
    # system.
    library = BUILD / "lib" / "libzerotax-record.so"
    script = (f"mount -t tmpfs -o size=200k none {tmp_path} || exit 77\n"
              f"{ZEROTAX} record --text /dev/null -- sh -c 'cp --sparse=always $ZEROTAX_RECORD {tmp_path}/arena' || exit 78\n"
              f"export ZEROTAX_RECORD={tmp_path}/arena LD_PRELOAD={library}\n"
              f"for i in 1 2 3 4 5; do {PROGRAMS}/threads || exit 79; {KNOWN} >/dev/null; [ $? = 3 ] || exit 80; done\n"
              f"LD_PRELOAD= df --output=avail {tmp_path}")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=clean_environment(), capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        pytest.skip("a tmpfs cannot be mounted here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "0", "it is full by now"


@root_only
def test_nobody_gets_the_same_counts():
    skip_if_unreadable()
    found = record(KNOWN, prefix=NOBODY)
    assert found.status == 3
    assert found.totals["calloc_calls"] == 1015 and found.totals["by_hand"]["zeroed_bytes"] == 7_100_000


REFUSED = [
    (["/no/such/program"], ["no command '/no/such/program'"]),
    (["no-such-program"], ["no command 'no-such-program'"]),
    (["/etc/passwd"], ["no command"]),
    ([""], ["no command ''"]),
    ([], ["no command is given", "--"]),
]


@pytest.mark.parametrize("command, words", REFUSED)
def test_what_cannot_be_recorded_is_refused_in_one_line(command, words):
    check_refused(zerotax("record", "--", *command), words)


def check_refused(done, words):
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and done.stderr.startswith("zerotax: ")
    for word in words:
        assert word in done.stderr


def program(folder, content):
    path = folder / "program"
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def test_what_is_no_program_is_refused(tmp_path):
    check_refused(zerotax("record", "--", program(tmp_path, b"echo hello\n")), ["neither an ELF program nor a script"])
    check_refused(zerotax("record", "--", program(tmp_path, b"\x7fELF\x02")), ["broken"])
    other = bytearray(KNOWN.read_bytes())
    other[18:20] = b"\x3e\x00" if platform.machine() == "aarch64" else b"\xb7\x00"  # EM_X86_64, EM_AARCH64
    check_refused(zerotax("record", "--", program(tmp_path, bytes(other))), ["another kind of processor"])
    check_refused(zerotax("record", "--", program(tmp_path, b"#!/no/such/interpreter\n")), ["/no/such/interpreter"])


def test_a_script_of_a_static_program_is_recorded_from_outside(tmp_path):
    found = record(program(tmp_path, f"#!{PROGRAMS / 'static'}\n".encode()))
    assert found.status == 3 and found.out == "known\n"
    assert "is run by" in found.json["outside"]["why"] and "statically linked" in found.json["outside"]["why"]


@pytest.mark.parametrize("compiler, options, why", [
    ("g++", ["-fsanitize=address"], "whose libasan.so"),
    ("g++", ["-fsanitize=address", "-static-libasan", "-s"], "which is linked into the program"),
    ("g++", ["-fsanitize=thread", "-static-libtsan"], "which is linked into the program"),
    ("clang++", ["-fsanitize=address"], "which is linked into the program"),
    ("clang++", ["-fsanitize=memory"], "which is linked into the program"),
    # UndefinedBehaviorSanitizer does not replace the allocator.
    ("g++", ["-fsanitize=undefined", "-static-libubsan"], ""),
    ("clang++", ["-fsanitize=undefined"], "")])
def test_a_program_with_a_sanitizer_is_recorded_from_outside(tmp_path, compiler, options, why):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (tmp_path / "a.cc").write_text("int main() { return 0; }\n")
    built = subprocess.run([compiler, *options, tmp_path / "a.cc", "-o", tmp_path / "a"], capture_output=True, check=False)
    if built.returncode != 0 or subprocess.run([tmp_path / "a"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{compiler} has no such sanitizer here")
    found = record(tmp_path / "a")
    assert found.status == 0
    if why:
        assert f"built with a sanitizer, {why}" in found.json["outside"]["why"]
    else:
        assert found.json.get("outside") is None and found.processes("a")


def test_a_script_is_recorded_through_its_interpreter(tmp_path):
    found = record(program(tmp_path, b"#!/bin/sh\necho from a script\nexit 4\n"))
    assert (found.status, found.out) == (4, "from a script\n")


@root_only
def test_a_setuid_program_is_refused_to_who_is_not_its_owner():
    su = shutil.which("su")
    if su is None or not os.stat(su).st_mode & 0o4000:
        pytest.skip("no setuid program at hand")
    check_refused(zerotax("record", "--", su, prefix=NOBODY), ["setuid"])
