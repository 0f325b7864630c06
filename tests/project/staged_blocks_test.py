"""Blocks of commands in README.md and docs that pages_test.py omits. These blocks run unchanged if their needs are met.
A stage makes the library, program, service or process that a block needs, in the folder where the block runs. A block
without a stage is run by a test elsewhere.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, PLANTED, SOURCE, ZEROTAX, clean_environment
from pages_test import LEAVE_NOTHING, PAGES, blocks

ALL_PAGES = [*PAGES, SOURCE / "docs" / "bill" / "README.md"]
ROOT = os.geteuid() == 0
PROGRAM = """#include <stdlib.h>
#include <string.h>
int main(void) {
  for (int i = 0; i < 20; ++i) {
    char* block = malloc(1 << 20);
    memset(block, 1, 1 << 20);
    free(block);
  }
}
"""
# The service ends after 60 s, even if its test does not end the service.
SERVICE = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <zerotax/recorder.h>
ZEROTAX_EVENT(request_begin, (uint64_t, number))
ZEROTAX_EVENT(deadline_missed, (uint64_t, number))
int main(void) {
  alarm(60);
  for (uint64_t i = 0; i < 150; ++i) {
    ZEROTAX_RECORD(request_begin, .number = i);
    char* pages = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(pages, 1, 4 << 20);
    munmap(pages, 4 << 20);
    if (i == 100) ZEROTAX_RECORD(deadline_missed, .number = i);
    if (getenv("ZEROTAX_TRACE_CONTROL") != NULL) usleep(50000);
  }
}
"""
SCRIPT = "for _ in range(20):\n    bytearray(1_000_000)\n"
# Continues after status 1 (a finding) and after status 3 (all points are ambiguous, as on a busy machine).
FINDINGS = "set +e; trap 'code=$?; [ $code = 1 ] || [ $code = 3 ] || exit $code' ERR\n"
STAGES = {}
ELSEWHERE = {
    ("README.md", "./run study"): "tests/project/newcomer_path.sh",
    ("install.md", "./run build"): "tests/stress/fresh_clone_test.py",
    ("install.md", "cmake --install build"): "tests/stress/fresh_clone_test.py",
    ("install.md", "./run package"): "tests/stress/fresh_clone_test.py",
    ("install.md", "podman build"): "tests/stress/fresh_clone_test.py",  # by buildah, not podman
    ("state-of-zeroing-2026.md", "./run study"): "tests/project/newcomer_path.sh",
    ("study.md", "zerotax study --thorough --on slurm"): "tests/measuring/run/slurm_commands_test.py",
    ("top.md", "zerotax top --once"): "tests/program/top/production_test.py",
    ("top.md", "zerotax record --full --pid 4711"): "tests/program/top/production_test.py",
    ("top.md", "zerotax advise"): "tests/program/top/production_test.py",
    ("advise.md", "zerotax advise --frontier"): "tests/program/advise/frontier_test.py",
    ("top.md", "systemctl enable"): "tests/measuring/cli/install_test.py",  # starts the unit's command without systemd
    ("doctor.md", "zerotax run --size 20MiB --on vm"): "tests/measuring/run/machine_test.py",
    ("state-of-zeroing-2026.md", "zerotax history --repo mimalloc"): "tests/regression/bisect/history_test.py",
    ("state-of-zeroing-2026.md", "docs/bill/bill.py"): "tests/bill/bill_test.py",
    ("bill/README.md", "docs/bill/bill.py --list"): "tests/bill/bill_test.py",
}


def stage(page, words, *, long=None, needs=None):
    """Registers the stage of a page's block that begins with these words. `needs` is (whether the needs are met, the
    reason to skip otherwise).
    """
    def register(prepare):
        STAGES[page, words] = (prepare, long, needs)
        return prepare
    return register


def name_of(page):
    return page.name if page.parent.name != "bill" else "bill/README.md"


def left_out():
    """Yields (page, its text, commands) of each block that pages_test.py omits."""
    for page in ALL_PAGES:
        text = page.read_text(encoding="utf-8")
        yield from ((name_of(page), text, commands) for how, commands in blocks(text) if how.startswith("not run"))


def found(page, commands, among):
    return [key for key in among if key[0] == page and commands.startswith(key[1])]


def saved(text, folder, *names):
    """Writes the files that a page says to save, by "Save this as `NAME`:" and a block."""
    for name, contents in re.findall(r"Save this as `([^`]+)`:\n\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if name in names:
            (folder / name).write_text(contents)
    assert all((folder / name).exists() for name in names)


def compile_program(folder, source, name="program", words=()):
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-O1", folder / f"{name}.c", "-o", folder / name, *words], check=True)


def library(file, policy="never"):
    file.parent.mkdir(exist_ok=True)
    shutil.copy(PLANTED / f"libplanted_{policy}.so", file)


def link(folder, *names):
    """Links files of the source folder, and the build folder as `build`."""
    for name in names:
        (folder / name).symlink_to(BUILD if name == "build" else SOURCE / name)


def recorded(folder, name):
    """Compiles a program with the recorder."""
    compile_program(folder, SERVICE, name, ["-I", SOURCE / "recorder/include", "-L", BUILD / "lib", f"-Wl,-rpath,{BUILD / 'lib'}",
                                            "-lzerotax-recorder"])


def as_4711(folder, command):
    """Returns words that run a shell in a PID namespace where this command is process 4711, for a minute."""
    (folder / "begin").write_text(f"""mount --make-rprivate /
mount -t proc proc /proc
echo 4710 >/proc/sys/kernel/ns_last_pid
timeout --foreground 60 {command} &
[ $! = 4711 ] || exit 99
sleep 0.5
"$@"
""")
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", str(folder / "begin")]


BUSY = "/usr/bin/python3 -c 'while True: bytearray(30_000_000)'"
NEEDS_ROOT = (ROOT, "needs root, to make a namespace")


def has_module(name):
    return subprocess.run(["/usr/bin/python3", "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def runs(name):
    """Whether the program exists, and is not only a shim without a version."""
    return shutil.which(name) and subprocess.run([name, "--version"], capture_output=True, check=False).returncode == 0


NEEDS_NUMPY = (has_module("numpy"), "install python3-numpy")


@stage("README.md", "PATH=$PWD/build/bin", long="advice takes minutes", needs=NEEDS_NUMPY)
def readme_numpy(folder, text):
    saved(text, folder, "numpy_rounds.py")
    link(folder, "build")


@stage("tour.md", "zerotax advise", long="advice takes minutes", needs=NEEDS_NUMPY)
def tour_numpy(folder, _):
    saved((SOURCE / "README.md").read_text(encoding="utf-8"), folder, "numpy_rounds.py")


@stage("tour.md", "zerotax bless")
def tour_check(folder, _):
    library(folder / "libmine.so")


@stage("tour.md", "cd docs/examples")
def tour_cow(folder, _):
    (folder / "docs").symlink_to(SOURCE / "docs")


@stage("advise.md", "zerotax advise -- ./program", long="advice takes minutes")
def advise_words(folder, _):
    compile_program(folder, PROGRAM)
    library(folder / "libmine.so")
    (folder / "work.py").write_text(SCRIPT)
    (folder / "input.txt").touch()
    return {"shell": FINDINGS}


@stage("advise.md", "zerotax advise --ready", long="advice takes minutes",
       needs=(shutil.which("redis-server") and shutil.which("redis-benchmark"), "install redis-server and redis-tools"))
def advise_redis(_, __):
    pass


@stage("compare.md", "zerotax compare ./v1/libmine.so", long="two comparisons")
def compare_words(folder, _):
    for version, policy in (("v1", "never"), ("v2", "memset")):
        library(folder / version / "libmine.so", policy)
    for name in ("before", "after", "v1", "v2", "v3"):
        subprocess.run([ZEROTAX, "run", "--allocator", "glibc", "--size", "64KiB", "--ops", "4", "--out", f"results/{name}"],
                       cwd=folder, check=True, capture_output=True, env=clean_environment())
    for name in ("old", "new"):
        shutil.copy(SOURCE / "tests" / "fuzz" / "samples" / "bench.json", folder / f"bench-{name}.json")
    return {"shell": FINDINGS}


@stage("compare.md", "zerotax compare mimalloc jemalloc --benchmark-json", long="a comparison of every size",
       needs=(pathlib.Path("/usr/share/benchmark/compare.py").exists() and has_module("scipy"), "install libbenchmark-tools"))
def compare_benchmark(_, __):
    return {"shell": FINDINGS}


@stage("contract.md", "zerotax contract --under qemu", long="every promise in an emulator",
       needs=(shutil.which("qemu-x86_64-static"), "install qemu-user-static"))
def contract_qemu(_, __):
    return {"shell": FINDINGS}


@stage("contract.md", "./zerotax-contract", long="every promise")
def contract_elsewhere(folder, _):
    (folder / "zerotax-contract").symlink_to(BUILD / "bin" / "zerotax-contract")
    return {"shell": FINDINGS}


@stage("cow.md", "zerotax cow --pid 4711", needs=NEEDS_ROOT)
def cow_pid(folder, _):
    return {"prefix": as_4711(folder, BUSY)}


@stage("profile.md", "zerotax profile --pid 4711", long="two profiles of a running process", needs=NEEDS_ROOT)
def profile_pid(folder, _):
    return {"prefix": as_4711(folder, BUSY)}


@stage("safety.md", "sudo chown", long="installs", needs=(
    ROOT and shutil.which("setcap") and shutil.which("groupadd"), "needs root, setcap and groupadd"))
def safety_setcap(folder, _):
    """Runs in a mount namespace in which /opt and /etc are copies."""
    opt, etc, tools = folder / "opt", folder / "etc", folder / "tools"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", opt / "zerotax", "--strip"], check=True, capture_output=True)
    shutil.copytree("/etc", etc, symlinks=True, ignore=shutil.ignore_patterns("ssl", "alternatives", "java*"))
    tools.mkdir()
    (tools / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
    (tools / "sudo").chmod(0o755)
    (folder / "enter").write_text(f"""set -e
mkdir -p /opt
mount --bind {opt} /opt
mount --bind {etc} /etc
groupadd -f ops
PATH={tools}:$PATH exec "$@"
""")
    begin = as_4711(folder, BUSY)
    return {"prefix": ["unshare", "--mount", "--propagation", "private", "sh", folder / "enter", *begin]}


@stage("doctor.md", "zerotax doctor", long="a study, on a quiet machine")
def doctor_statuses(_, __):
    return {"shell": FINDINGS}


@stage("largecache.md", "LARGECACHE_POLICY=adaptive")
def largecache_program(folder, _):
    compile_program(folder, PROGRAM)
    link(folder, "build")


@stage("loop.md", "zerotax run --loop", long="ten minutes")
def loop_long(_, __):
    pass


@stage("study.md", "/usr/bin/python3 plots/write_page.py RESULTS")
def page_of_results(folder, _):
    link(folder, "plots")
    shutil.copytree(SOURCE / "results" / "reference", folder / "RESULTS", ignore=lambda place, names: [
        name for name in names if (pathlib.Path(place) / name).is_dir()])


for study_page in ("study.md", "tour.md"):
    stage(study_page, "zerotax study\n", long="a study")(lambda *_: None)


@stage("record.md", "zerotax profile -- python3.12", needs=(
    runs("python3.12") and runs("node"), "needs Python 3.12, which Debian 12 lacks, and nodejs"))
def scripts_named(folder, _):
    (folder / "service.py").write_text(SCRIPT)
    (folder / "service.js").write_text("for (let i = 0; i < 1e8; ++i);\n")
    return {"shell": FINDINGS}


@stage("snapshot.md", "zerotax snapshot --size 256MiB --remedies", long="a minute")
def snapshot_remedies(_, __):
    return {"shell": FINDINGS}


@stage("snapshot.md", "zerotax snapshot --published", long="minutes, and much memory")
def snapshot_published(_, __):
    return {"shell": FINDINGS}


@stage("state-of-zeroing-2026.md", "zerotax run --case fork_after_calloc", long="every size")
def fork_after_calloc(_, __):
    pass


@stage("state-of-zeroing-2026.md", "zerotax replay workloads", long="twelve recordings under three allocators")
def replay_workloads(_folder, _text):
    return {"shell": FINDINGS}


@stage("trace.md", "zerotax trace run --functions -o calls_after")
def trace_diff(folder, text):
    """An earlier block of the page has made `work` and `calls`."""
    before = next(commands for _, commands in blocks(text) if "-finstrument-functions" in commands)
    subprocess.run(["bash", "-e", "-c", before], cwd=folder, env=environment(), check=True, capture_output=True)
    return {"shell": FINDINGS}


@stage("trace.md", "cmake --install build")
def trace_first(folder, text):
    saved(text, folder, "first.c")
    link(folder, "build")


@stage("trace.md", "ZEROTAX_TRACE_CONTROL=", needs=NEEDS_ROOT)
def trace_control(folder, _):
    recorded(folder, "server")
    # Waits for the server to start. The trap sleeps before each command, like a reader who types.
    (folder / "begin").write_text('mount -t tmpfs tmpfs /run\nmkdir -p /run/user/1000\n"$@"\n')
    return {"prefix": ["unshare", "--mount", "--propagation", "private", "sh", str(folder / "begin")],
            "shell": "trap '[ $BASH_SUBSHELL != 0 ] || sleep 0.3' DEBUG\n"}


@stage("trace.md", "zerotax trace run --until")
def trace_until(folder, _):
    recorded(folder, "service")


def environment():
    path = f"{BUILD / 'bin'}:/usr/bin:{os.environ['PATH']}"
    return clean_environment(PATH=path)


def test_each_block_has_a_stage_or_a_test_elsewhere():
    left = list(left_out())
    assert len(left) > 30
    for page, _, commands in left:
        assert len(found(page, commands, {**STAGES, **ELSEWHERE})) == 1, f"{page}: {commands}"
    for key in {**STAGES, **ELSEWHERE}:
        assert any(found(page, commands, [key]) for page, _, commands in left), f"no block begins with {key}"
    for file in ELSEWHERE.values():
        assert (SOURCE / file).exists(), file


@pytest.mark.parametrize("key", [
    pytest.param(key, marks=pytest.mark.long(long)) if long else key for key, (_, long, _) in STAGES.items()],
    ids=lambda key: f"{key[0]}: {' '.join(key[1].split()[:4])}")
def test_each_block_works_as_it_stands(key, tmp_path):
    prepare, _, needs = STAGES[key]
    if needs and not needs[0]:
        pytest.skip(needs[1])
    [(_, text, commands)] = [each for each in left_out() if found(each[0], each[2], [key])]
    home = tmp_path / "home"
    home.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    how = prepare(folder, text) or {}
    done = subprocess.run([*map(str, how.get("prefix", [])), "bash", "-euo", "pipefail", "-c",
                           LEAVE_NOTHING + how.get("shell", "") + commands], cwd=folder, env={**environment(), "HOME": str(home)},
                          capture_output=True, text=True, timeout=1400, check=False, errors="replace")
    allowed = (0, 1, 3) if how.get("shell") == FINDINGS else (0,)
    assert done.returncode in allowed, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
