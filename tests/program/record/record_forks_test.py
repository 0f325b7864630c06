"""`zerotax record` counts the processes that a program starts: by call and by kind, with the reason why a call needs fork."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import MIB, NOBODY, ZEROTAX, check_schema, clean_environment, is_na
from outside import open_folder, root_only

HERE = pathlib.Path(__file__).parent / "forks"
PYTHON = "/usr/bin/python3"
CALLS = 20
# The system calls of strace, by the kind of zerotax.
COPIES, WAITS, SHARES = "fork", "vfork", "clone_vm"


@pytest.fixture(scope="module", name="starts")
def starts_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("forks") / "starts"
    subprocess.run(["gcc", "-g", "-O1", "-o", program, HERE / "starts.c"], check=True, timeout=60)
    return program


def recorded(*words, prefix=(), status=0, **environment):
    with open_folder() as folder:
        outputs = ["--json", folder / "r.json", "--text", folder / "r.txt"]
        done = subprocess.run([*prefix, ZEROTAX, "record", "--full", *outputs, "--", *map(str, words)], check=False,
                              env=clean_environment(**environment), capture_output=True, text=True, timeout=120)
        assert done.returncode == status, done.stderr
        document = json.loads((folder / "r.json").read_text())
        check_schema(document, "record")
        return document, (folder / "r.txt").read_text()


def traced(*words):
    """Returns the number of processes by kind, as strace sees their system calls."""
    if shutil.which("strace") is None:
        pytest.skip("strace is missing: run ./run install")
    with open_folder() as folder:
        subprocess.run(["strace", "-f", "-qq", "-e", "trace=fork,vfork,clone,clone3", "-o", folder / "trace", *map(str, words)],
                       env=clean_environment(), check=True, timeout=120, stdout=subprocess.DEVNULL)
        found = collections.Counter()
        for line in (folder / "trace").read_text().splitlines():
            call = re.search(r"\b(fork|vfork|clone3?)\((.*)", line)
            if call is None or "CLONE_THREAD" in call[2] or re.search(r"= -\d", line):
                continue
            shares, waits = "CLONE_VM" in call[2], "CLONE_VFORK" in call[2]
            found[WAITS if call[1] == "vfork" or (shares and waits) else SHARES if shares else COPIES] += 1
        return found


def by_kernel(forks):
    return {kind: count for kind, count in forks["by_kernel"].items() if count}


def check_sums(forks):
    assert forks["calls"] == sum(site["calls"] - site["failed"] for site in forks["sites"]) + forks["calls_without_site"]
    assert forks["calls"] <= forks["processes"]
    for site in forks["sites"]:
        if not is_na(site["call_ns"]):
            assert site["longest_call_ns"] <= site["call_ns"]
        assert max(site["allocated"], site["changed_user"], site["changed_session"]) <= (
            0 if is_na(site["execs"]) else site["execs"])


@pytest.mark.timeout(120)
@pytest.mark.parametrize("way, kind, need, kernel", [
    ("fork", "fork", "continues", COPIES),
    ("fork-exec", "fork", "nothing", COPIES),
    ("fork-allocate", "fork", "allocated", COPIES),
    ("fork-session", "fork", "nothing", COPIES),
    ("fork-close-range", "fork", "nothing", COPIES),
    ("fork-closefrom", "fork", "nothing", COPIES),
    ("vfork", "vfork", "shares_memory", WAITS),
    ("spawn", "posix_spawn", "shares_memory", WAITS),
    ("popen", "posix_spawn", "shares_memory", WAITS),
    ("system", "posix_spawn", "shares_memory", WAITS),
    ("clone-vfork", "vfork", "shares_memory", WAITS),
    ("clone-vm", "clone_vm", "shares_memory", SHARES),
    ("clone", "fork", "nothing", COPIES)])
def test_each_way_to_start_a_process_is_counted(starts, way, kind, need, kernel):
    document, text = recorded(starts, way, CALLS)
    forks = document["forks"]
    check_sums(forks)
    assert forks["processes"] == forks["calls"] == CALLS
    [site] = forks["sites"]
    assert (site["kind"], site["calls"], site["failed"], site["need"]) == (kind, CALLS, 0, need)
    if kind == "fork" and way != "clone":
        assert 8 * MIB <= site["held_bytes"] <= 9 * MIB
    elif way != "clone":
        assert is_na(site["held_bytes"])
    if way != "clone-vm":
        assert site["execs"] == (0 if way == "fork" else CALLS)
    assert is_na(site["call_ns"]) == (way == "system")
    assert site["changed_session"] == (CALLS if way == "fork-session" else 0)
    closes = way in ("fork-close-range", "fork-closefrom")
    assert site["closed_range"] == (CALLS if closes else 0)
    assert ("addclosefrom_np" in text, "POSIX_SPAWN_SETSID" in text) == (closes, way == "fork-session")
    if os.geteuid() == 0:
        assert by_kernel(forks) == {kernel: CALLS} == traced(starts, way, CALLS)
    assert f"{kind} " in text and "starts.c:" in text


@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ["fork-user", "fork-groups"])
def test_a_child_that_changes_its_groups_needs_a_fork(starts, way):
    if os.geteuid() != 0:
        pytest.skip("root only")
    [site] = recorded(starts, way, CALLS)[0]["forks"]["sites"]
    assert (site["need"], site["changed_user"], site["execs"]) == ("changed_user", CALLS, CALLS)


@pytest.mark.timeout(120)
def test_nested_and_failed_calls_return_to_their_callers(starts):
    nested = recorded(starts, "vfork-twice", CALLS)[0]["forks"]
    assert nested["processes"] == nested["calls"] == 2 * CALLS
    missing = recorded(starts, "vfork-missing", CALLS)[0]["forks"]
    assert missing["processes"] == CALLS and missing["sites"][0]["execs"] == 0
    [failed] = recorded(starts, "spawn-missing", CALLS)[0]["forks"]["sites"]
    assert (failed["calls"], failed["failed"], failed["execs"]) == (CALLS, CALLS, 0)


@pytest.mark.timeout(120)
def test_processes_of_system_calls_are_counted_by_the_kernel_alone(starts):
    document, text = recorded(starts, "syscall", CALLS)
    forks = document["forks"]
    assert (forks["processes"], forks["calls"], forks["sites"]) == (CALLS, 0, [])
    assert f"{CALLS} processes were started." in " ".join(text.split())


@root_only
@pytest.mark.timeout(120)
@pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "user"])
def test_a_static_program_starts_as_many_processes_as_it_has_forked(prefix):
    with open_folder() as folder:
        subprocess.run(["gcc", "-static", "-o", folder / "starts", HERE / "starts.c"], check=True, timeout=60)
        forks = recorded(folder / "starts", "vfork", CALLS, prefix=prefix)[0]["forks"]
    assert (forks["processes"], forks["calls"], forks["sites"]) == (CALLS, 0, [])
    assert is_na(forks["by_kernel"]) if prefix else by_kernel(forks) == {WAITS: CALLS}


@root_only
@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ["fork-exec", "vfork", "spawn"])
def test_an_ordinary_user_has_the_same_counts(starts, way):
    with open_folder() as folder:
        program = folder / "starts"
        shutil.copy(starts, program)
        forks = recorded(program, way, CALLS, prefix=NOBODY)[0]["forks"]
    assert forks["processes"] == forks["calls"] == forks["sites"][0]["calls"] == CALLS
    assert is_na(forks["by_kernel"])


PLAIN = "subprocess.run(['true'])"
PYTHON_WAYS = [
    (PLAIN, "vfork", "shares_memory", ""),
    ("subprocess.run(['true'], start_new_session=True)", "vfork", "shares_memory", ""),
    ("subprocess.run(['/bin/true'], close_fds=False)", "posix_spawn", "shares_memory", ""),
    ("subprocess.run(['true'], preexec_fn=lambda: None)", "fork", "allocated", "preexec_fn="),
    ("subprocess.run(['true'], user=65534)", "fork", "changed_user", "user="),
    ("subprocess.run(['true'], extra_groups=[65534])", "fork", "changed_user", "extra_groups="),
    ("subprocess._USE_VFORK = False; subprocess.run(['true'])", "fork", "nothing", "_USE_VFORK"),
    ("os.system('true')", "posix_spawn", "shares_memory", ""),
    ("os.waitpid(os.fork() or os._exit(0), 0)", "fork", "continues", "zerotax cow"),
]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("statement, kind, need, words", PYTHON_WAYS)
def test_python_says_why_it_used_fork(statement, kind, need, words):
    if not os.path.exists(PYTHON) or (need == "changed_user" and os.geteuid() != 0):
        pytest.skip("needs Debian's python3, and root for user= and extra_groups=")
    script = f"import os, subprocess\nfor _ in range({CALLS}): {statement}"
    document, text = recorded(PYTHON, "-c", script)
    forks = document["forks"]
    check_sums(forks)
    [site] = [site for site in forks["sites"] if site["calls"] == CALLS]
    assert site["kind"] == kind and need in ("", site["need"])
    assert words in " ".join(text.split())
    if os.geteuid() == 0:
        assert by_kernel(forks) == traced(PYTHON, "-c", script)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("program, words", [
    ("node", ["-e", f"for (let i = 0; i < {CALLS}; ++i) require('child_process').execFileSync('/bin/true')"]),
    ("ruby", ["-e", f"{CALLS}.times {{ Process.wait(spawn('/bin/true')) }}"]),
    ("sh", ["-c", f"i=0; while [ $i -lt {CALLS} ]; do /bin/true; i=$((i+1)); done"])])
def test_other_languages_start_as_many_processes_as_strace_sees(program, words):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is missing: run ./run install")
    forks = recorded(shutil.which(program), *words)[0]["forks"]
    check_sums(forks)
    seen = traced(shutil.which(program), *words)
    assert forks["processes"] == sum(seen.values())
    assert forks["processes"] >= CALLS
    if os.geteuid() == 0:
        assert by_kernel(forks) == seen


GO_CALLS = 100
GO = """package main
// #include <stdlib.h>
import "C"
import "os/exec"
func main() {
    C.free(C.malloc(10))
    for i := 0; i < %d; i++ {
        if exec.Command("/bin/true").Run() != nil { panic("no /bin/true") }
    }
}
""" % GO_CALLS


@pytest.fixture(scope="module", name="go_programs")
def programs_of_go(tmp_path_factory):
    """Returns a folder with the programs `dynamic`, which contains C, and `static`."""
    if shutil.which("go") is None:
        pytest.skip("go is missing: run ./run install")
    folder = tmp_path_factory.mktemp("go")
    for name, text in (("dynamic", GO), ("static", GO.replace('import "C"', "").replace("C.free(C.malloc(10))", ""))):
        (folder / f"{name}.go").write_text(text)
        subprocess.run(["go", "build", "-o", name, f"{name}.go"], cwd=folder, check=True, timeout=300,
                       env=clean_environment(HOME=str(folder), GOCACHE=str(folder / "cache"), GO111MODULE="off",
                                             CGO_ENABLED=str(int(name == "dynamic"))))
    return folder


@pytest.mark.timeout(400)
@pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "user"])
@pytest.mark.parametrize("linked", ["dynamic", "static"])
def test_programs_of_go_start_as_many_processes_as_strace_sees(go_programs, linked, prefix):
    if prefix and os.geteuid() != 0:
        pytest.skip("root only")
    with open_folder() as folder:
        program = shutil.copy(go_programs / linked, folder)
        forks = recorded(program, prefix=prefix)[0]["forks"]
        seen = traced(program)
    # Go makes its system calls itself, so the library sees no call.
    assert (forks["calls"], forks["sites"]) == (0, [])
    assert forks["processes"] == sum(seen.values()) >= GO_CALLS
    if prefix or os.geteuid() != 0:
        assert is_na(forks["by_kernel"])
    else:
        assert by_kernel(forks) == seen and seen[WAITS] >= GO_CALLS


@pytest.mark.timeout(180)
def test_ten_thousand_processes_are_not_lost(starts):
    forks = recorded(starts, "fork", 10_000)[0]["forks"]
    assert forks["processes"] == 10_000
    assert forks["sites"][0]["calls"] == 10_000
