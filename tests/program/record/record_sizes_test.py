"""`zerotax record --pid --sizes` leaves the program unharmed. Every byte that the program stores is right, and every
process and thread that it starts runs. Afterwards, the kernel has no uprobes of zerotax.
"""

import re
import shutil
import signal
import subprocess

import pytest
from conftest import INTERRUPTED_BY_SIGINT, ZEROTAX, clean_environment
from outside import HERE, Outcome, open_folder, perf_events, root_only, start_record
from waiting import wait_for

pytestmark = root_only

ROUNDS = 1000
THREADS = 2000
OURS = re.compile(r"zerotax_\d+_\d+_\d+/")


def build(folder, source, *options):
    program = folder / source.partition(".")[0]
    compiler = "g++" if source.endswith(".cc") else "gcc"
    subprocess.run([compiler, "-g", "-O1", "-fno-builtin", "-pthread", *options, "-o", program, HERE / source], check=True)
    return program


class Target:
    """Runs a program that prints "ready", and then waits for a line."""

    def __init__(self, *words, **environment):
        self.run = subprocess.Popen([*map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                    env=clean_environment(**environment))
        assert self.line() == "ready"

    def line(self):
        return self.run.stdout.readline().rstrip("\n")

    def go_on(self):
        self.run.stdin.write("\n")
        self.run.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run.kill()
        self.run.communicate()


def start_sizes(folder, target):
    return start_record(folder, target.run.pid, "--seconds", 300, "--sizes")


def end(folder, started, target):
    """Ends a recording whose target waits at the end of its work. Returns the recorded sizes."""
    started.send_signal(signal.SIGINT)
    found = Outcome(folder, started, INTERRUPTED_BY_SIGINT)
    target.go_on()
    assert target.run.wait() == 0
    return found.json["store_sizes"]


def definitions():
    """Returns zerotax's uprobe definitions in this kernel."""
    with open_folder() as folder:
        listed = subprocess.run(["unshare", "-m", "sh", "-c", f"mount -t tracefs tracefs {folder} && cat {folder}/uprobe_events"],
                                capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if OURS.search(line)]


def definitions_of(pid):
    return [line for line in definitions() if f":zerotax_{pid}_" in line]


def changed_bytes(pid):
    """Returns the number of bytes by which the C library's code in a process's memory differs from the file. These
    bytes are breakpoints.
    """
    changed = 0
    with open(f"/proc/{pid}/mem", "rb", 0) as memory, open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split()
            if "x" not in words[1] or not words[-1].endswith("libc.so.6"):
                continue
            first, last = (int(each, 16) for each in words[0].split("-"))
            memory.seek(first)
            code = memory.read(last - first)
            with open(words[-1], "rb") as file:
                file.seek(int(words[2], 16))
                changed += sum(a != b for a, b in zip(code, file.read(len(code)), strict=False))
    return changed


def test_every_variant_of_memset_stores_the_right_bytes(tmp_path):
    with Target(build(tmp_path, "filler.c", "-static"), 1) as target:
        started = start_sizes(tmp_path, target)
        target.go_on()
        passes = []
        while not (line := target.line()).startswith("failed"):
            passes.append([int(each) for each in line.split()])
        sizes = end(tmp_path, started, target)
    assert line == "failed 0" and len(passes) > 10
    assert [wrong for _, _, wrong in passes] == [0] * len(passes)
    assert sizes["unwatched"] == []
    here = [each for each in sizes["callers"] if each["frame"]["function"] == "fill_here"]
    # The processor determines which variants of memset run: at least two, with and without `rep stos`.
    assert len({each["function"] for each in here}) > 1, here
    assert sum(each["calls"] for each in here) + sizes["lost_calls"] >= sum(zeros for zeros, _, _ in passes)
    if sizes["lost_calls"] == 0:
        assert sum(each["calls"] for each in here) == sum(zeros for zeros, _, _ in passes)
        assert sizes["other_bytes_calls"] >= sum(others for _, others, _ in passes)


def test_whatever_the_program_starts_runs_and_is_counted(tmp_path):
    # The program is not PIE. If a process ends before it is examined, its functions therefore have the same addresses
    # as the program's.
    with Target(build(tmp_path, "starter.cc", "-no-pie"), ROUNDS) as target:
        started = start_sizes(tmp_path, target)
        target.go_on()
        outcomes = {}
        for _ in range(4):
            kind, *numbers = target.line().split()
            outcomes[kind] = [int(each) for each in numbers]
        sizes = end(tmp_path, started, target)
    assert outcomes == {"fork": [ROUNDS, 0, 0], "thread": [ROUNDS, 0, 0], "std::thread": [ROUNDS, 0, 0],
                        "spawn": [ROUNDS // 10, 0, 0]}
    calls = 3 * ROUNDS + ROUNDS // 10
    [here] = [each for each in sizes["callers"] if each["frame"]["function"] == "clear_here"]
    assert sizes["lost_calls"] == 0
    assert (here["calls"], here["bytes"]) == (calls, calls * 5000)


def test_python_starts_programs_meanwhile(tmp_path):
    script = ("import subprocess, sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
              "print(sum(subprocess.run(['/bin/true']).returncode for _ in range(100)), flush=True)\nsys.stdin.readline()\n")
    with Target("/usr/bin/python3", "-c", script) as target:
        started = start_sizes(tmp_path, target)
        target.go_on()
        assert target.line() == "0"
        assert end(tmp_path, started, target)["functions"]


def test_breakpoints_stand_in_the_program_alone_and_go_with_the_recording(tmp_path):
    program = build(tmp_path, "starter.cc")
    with Target(program, 1) as target, Target(program, 1) as other:
        started = start_sizes(tmp_path, target)
        assert changed_bytes(target.run.pid) > 0
        assert changed_bytes(other.run.pid) == 0
        assert definitions_of(started.pid)
        target.go_on()
        assert [target.line().split()[0] for _ in range(4)] == ["fork", "spawn", "thread", "std::thread"]
        started.send_signal(signal.SIGINT)
        Outcome(tmp_path, started, INTERRUPTED_BY_SIGINT)
        assert changed_bytes(target.run.pid) == 0
        assert definitions_of(started.pid) == []


def test_what_a_killed_recording_left_is_removed_by_the_next(tmp_path):
    with Target(build(tmp_path, "starter.cc"), 1) as target:
        killed = start_sizes(tmp_path, target)
        other = start_sizes(tmp_path, target)
        killed.kill()
        killed.communicate()
        assert definitions_of(killed.pid)
        started = start_sizes(tmp_path, target)
        assert definitions_of(killed.pid) == []
        # Uprobes of running recordings remain.
        assert definitions_of(other.pid) and definitions_of(started.pid)
        for each in (other, started):
            each.send_signal(signal.SIGINT)
            each.communicate(timeout=60)
            assert each.returncode == INTERRUPTED_BY_SIGINT
            assert definitions_of(each.pid) == []
        assert changed_bytes(target.run.pid) == 0


# cow opens more events for each thread than record does, and a process may open only a limited number of files.
@pytest.mark.parametrize("options, threads", [
    (["record", "--sizes"], THREADS), (["record"], THREADS), (["profile"], THREADS), (["cow"], THREADS // 4)])
def test_an_interruption_is_obeyed_while_events_are_opened(options, threads, tmp_path):
    """Some thousand threads each have an event on each processor."""
    with Target(build(tmp_path, "threads.c"), threads) as target:
        started = subprocess.Popen([ZEROTAX, *options, "--pid", str(target.run.pid), "--seconds", "300"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=clean_environment())
        assert wait_for(lambda: perf_events(started.pid) > 0 or started.poll() is not None)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=60)
        assert started.returncode == INTERRUPTED_BY_SIGINT, said
        assert definitions_of(started.pid) == []
        target.go_on()
        assert target.run.wait(60) == 0


@pytest.mark.parametrize("options", [["gcc"], ["gcc", "-static"], ["musl-gcc"]])
def test_a_call_of_bzero_is_one_call(options, tmp_path):
    """A call to bzero is counted once, although bzero jumps to memset."""
    if shutil.which(options[0]) is None:
        pytest.skip(f"{options[0]} is missing: run ./run install")
    source, program = tmp_path / "bzero.c", tmp_path / "bzero"
    source.write_text("""
#include <stdio.h>
#include <strings.h>
static char block[10000];
__attribute__((noinline)) static void clear_here(void) { bzero(block, 5000); }
int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  getchar();
  for (int i = 0; i < 100; ++i) clear_here();
  puts("done");
  getchar();
  return 0;
}
""")
    subprocess.run([*options, "-O1", "-fno-builtin", "-fno-optimize-sibling-calls", "-o", program, source], check=True)
    with Target(program) as target:
        started = start_sizes(tmp_path, target)
        target.go_on()
        assert target.line() == "done"
        sizes = end(tmp_path, started, target)
    [here] = [each for each in sizes["callers"] if each["frame"]["function"] == "clear_here"]
    assert (here["calls"], here["bytes"]) == (100, 500000)


def test_a_function_on_which_no_breakpoint_is_safe_is_named(tmp_path):
    """The memset of the tested library begins with a jump; its bzero does not."""
    source = tmp_path / "jumps.c"
    source.write_text("""
#include <stddef.h>
#include <stdio.h>
__attribute__((noinline)) void* stored(unsigned char* block, int byte, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) ((volatile unsigned char*)block)[i] = byte;
  return block;
}
__asm__(".globl memset\\n.type memset, @function\\nmemset: jmp stored\\n.size memset, 5\\n");
__attribute__((noinline)) void bzero(void* block, size_t bytes) { stored(block, 0, bytes); }
void* memset(void*, int, size_t);
int main(void) {
  static unsigned char block[1000];
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  getchar();
  for (int i = 0; i < 10; ++i) bzero(block, 500), memset(block, 0, 300);
  puts("done");
  getchar();
  return 0;
}
""")
    program = tmp_path / "jumps"
    subprocess.run(["gcc", "-static", "-O1", "-fno-builtin", "-o", program, source, "-Wl,--allow-multiple-definition"],
                   check=True)
    with Target(program) as target:
        started = start_sizes(tmp_path, target)
        target.go_on()
        assert target.line() == "done"
        sizes = end(tmp_path, started, target)
    assert "memset" in sizes["unwatched"] and "memset" not in sizes["functions"]
    [here] = [each for each in sizes["callers"] if each["frame"]["function"] == "main"]
    assert (here["calls"], here["function"], here["bytes"]) == (10, "bzero", 5000)
    assert "Any calls to memset are missing" in " ".join((tmp_path / "record.txt").read_text().split())


def test_a_file_that_names_thousands_of_such_functions_gets_no_breakpoint(tmp_path):
    source, program = tmp_path / "many.c", tmp_path / "many"
    source.write_text("#include <stdio.h>\n" + "".join(f"void __memset_{i}(void) {{}}\n" for i in range(2000)) +
                      'int main(void) { setvbuf(stdout, NULL, _IOLBF, 0); puts("ready"); getchar(); return 0; }\n')
    subprocess.run(["gcc", "-o", program, source], check=True)
    with Target(program) as target:
        started = start_sizes(tmp_path, target)
        assert len(definitions_of(started.pid)) < 100
        sizes = end(tmp_path, started, target)
    assert sizes["functions"]
    assert "functions of a file with more than 100 names like memset" in sizes["unwatched"]
