"""`zerotax contract` on this kernel: the suite alone, the command, its JSON and JUnit output, and its C programs."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import pytest
from refusing import refused
from conftest import BUILD, NOBODY, ZEROTAX, check_schema, clean_environment, is_na, skip_if_unreadable, zerotax

SUITE = BUILD / "bin" / "zerotax-contract"
LIAR = BUILD / "tests" / "contract-liar"
RACES = {"dontneed-race", "fault-race", "fork-race", "free-race"}
pytestmark = pytest.mark.skipif(not SUITE.exists(), reason="this build has no static C library")


def suite(*arguments, program=SUITE, **how):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300, **how)


def promises_in(text):
    return [row for row in map(json.loads, text.splitlines()) if "id" in row]


def rows(*arguments, **how):
    return promises_in(suite("--json", *arguments, **how).stdout)


@pytest.fixture(scope="module")
def tested():
    return rows("--seconds", 0.1)


def test_this_kernel_breaks_no_promise(tested):
    assert [(row["id"], row["detail"]) for row in tested if row["verdict"] == "broken"] == []
    kept = {row["id"] for row in tested if row["verdict"] == "kept"}
    assert {"mmap-fresh", "brk-regrown", "mremap-grown", "dontneed", "fork-child-write", "zero-page"} | RACES <= kept


def test_what_is_not_kept_has_a_reason(tested):
    for row in tested:
        if row["verdict"] != "kept":
            assert row["detail"], row
        if row["verdict"] == "unsupported":
            assert row["error"] in row["detail"]


def test_races_tell_their_tries(tested):
    assert {row["id"] for row in tested if "tries" in row} == RACES
    assert all(1 <= row["tries"] <= 10000 for row in tested if "tries" in row)


def test_the_list_names_each_promise_once_with_who_relies_on_it(tested):
    listed = rows("--list")
    assert [row["id"] for row in listed] == [row["id"] for row in tested]
    assert len({row["id"] for row in listed}) == len(listed) >= 80
    assert all(row["relied_on_by"] and row["statement"].endswith(".") for row in listed)


def test_programs_of_kept_promises_compile_and_find_them_kept(tested, tmp_path):
    """Compiles and runs the program that would show a broken promise, for one promise of each family."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler")
    families = {}
    for row in tested:
        if row["verdict"] == "kept" and row["family"] != "races":
            families[row["family"]] = row
    for row in families.values():
        source = tmp_path / f"{row['id']}.c"
        source.write_text(row["program"])
        assert len(row["program"].splitlines()) <= 70
        command = [compiler, "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-o", tmp_path / row["id"], source]
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)
        assert compiled.returncode == 0, row["id"] + compiled.stderr
        ran = subprocess.run([tmp_path / row["id"]], capture_output=True, text=True, check=False, timeout=60)
        assert (ran.returncode, ran.stdout) == (0, "kept\n"), row["id"]
    for root in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):  # the program of cgroup-pressure leaves its cgroup behind
        for folder in pathlib.Path(root).glob("contract-[0-9]*"):
            folder.rmdir()


def test_the_command_writes_a_document_and_junit(tmp_path):
    done = zerotax("contract", "--promise", "dontneed", "--promise", "fault-race", "--seconds", 0.2, "--json",
                   tmp_path / "c.json", "--junit", tmp_path / "c.xml")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "c.json").read_text())
    check_schema(document, "contract")
    assert document["verdict"] == "none broken" and document["state"] == "complete"
    assert [row["id"] for row in document["promises"]] == ["dontneed", "fault-race"]
    assert document["counts"]["kept"] == 2 and document["promises"][1]["tries"] >= 1
    assert {one["who"] for one in document["promises"][0]["relied_on_by"]} >= {"jemalloc", "Go", "glibc", "largecache"}
    cases = ElementTree.parse(tmp_path / "c.xml").findall(".//testcase")
    assert [case.get("name") for case in cases] == ["dontneed", "fault-race"]
    assert document["sentence"] in done.stdout.replace("\n", " ")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_a_broken_promise_has_evidence_and_a_program_that_was_run(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no compiler")
    lie = {"ZEROTAX_CONTRACT_SUITE": str(LIAR), "ZEROTAX_CONTRACT_LIE": "dontneed-nothing"}
    preload = BUILD / "tests" / "libcontract-dontneed-nothing.so"
    done = zerotax("contract", "--promise", "dontneed", "--full", "--json", tmp_path / "c.json", "--junit", tmp_path / "c.xml",
                   LD_PRELOAD=str(preload), **lie)
    assert done.returncode == 1, done.stderr
    document = json.loads((tmp_path / "c.json").read_text())
    check_schema(document, "contract")
    [row] = document["promises"]
    assert row["verdict"] == "broken" and document["verdict"] == "broken"
    assert row["evidence"]["expected"] == 0 and row["evidence"]["found"] == " ".join(["a5"] * 16)
    assert row["evidence"]["address"] % os.sysconf("SC_PAGESIZE") == row["evidence"]["offset_bytes"] == 0
    assert row["reproducer"]["shows_it"] is True and row["reproducer"]["status"] == 1
    assert row["reproducer"]["output"].startswith("broken: byte 0 of")
    assert "compiled and run, and shows the broken promise" in " ".join(done.stdout.split())
    assert "madvise(m0, 1048576, MADV_DONTNEED)" in done.stdout
    [case] = ElementTree.parse(tmp_path / "c.xml").findall(".//testcase")
    assert case.find("error") is not None and "int main" in case.find("error").text
    # The reproducer calls the real kernel, which keeps the promise.
    honest = json.loads(zerotax("contract", "--promise", "dontneed", "--json", "-", **lie).stdout)
    assert honest["promises"][0]["reproducer"]["shows_it"] is False


def test_without_a_compiler_the_program_is_not_run(tmp_path):
    done = zerotax("contract", "--promise", "dontneed", "--json", "-", CC="/no/such/compiler",
                   ZEROTAX_CONTRACT_SUITE=str(LIAR), ZEROTAX_CONTRACT_LIE="dontneed-nothing")
    [row] = json.loads(done.stdout)["promises"]
    assert done.returncode == 1 and is_na(row["reproducer"]["shows_it"]) and "int main" in row["reproducer"]["program"]


def test_what_was_tested_elsewhere_is_shown(tmp_path):
    lines = suite("--json", "--only", "dontneed", "--only", "mmap-fresh", "--lie", "dontneed-nothing", program=LIAR).stdout
    (tmp_path / "there.jsonl").write_text(lines)
    done = zerotax("contract", "--results", tmp_path / "there.jsonl", "--json", tmp_path / "c.json")
    assert done.returncode == 1 and "1 of 2 promises is broken" in " ".join(done.stdout.split())
    document = json.loads((tmp_path / "c.json").read_text())
    check_schema(document, "contract")
    assert document["state"] == "complete" and is_na(document["environment"])
    assert document["tested_on"]["kernel"] == os.uname().release
    assert document["tested_on"]["page_bytes"] == os.sysconf("SC_PAGESIZE")
    [row] = [row for row in document["promises"] if row["verdict"] == "broken"]
    assert row["id"] == "dontneed" and "elsewhere" in row["reproducer"]["shows_it"]["na"]
    # A file that was cut off: complete lines count, and the missing rest is reported.
    (tmp_path / "there.jsonl").write_text(lines[:-20])
    done = zerotax("contract", "--results", tmp_path / "there.jsonl", "--json", tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    assert "interrupted" in done.stderr and document["state"] == "interrupted" and len(document["promises"]) == 1


def test_it_runs_under_another_command_and_writes_reports(tmp_path):
    """Each broken promise is shown by its program, which runs under the emulator and, as a control, without it."""
    emulator = shutil.which("qemu-x86_64-static")
    if emulator is None or shutil.which("cc") is None:
        pytest.skip("install qemu-user-static")
    chosen = [word for name in ("dontneed", "remove", "wipe-on-fork") for word in ("--promise", name)]
    done = zerotax("contract", "--under", emulator, *chosen, "--json", tmp_path / "c.json", "--report", tmp_path / "reports",
                   "--subject", "this QEMU")
    assert done.returncode == 1, done.stderr
    document = json.loads((tmp_path / "c.json").read_text())
    check_schema(document, "contract")
    assert document["under"] == emulator
    verdicts = {row["id"]: row["verdict"] for row in document["promises"]}
    # QEMU 7.2 reports success for these two calls, but does nothing.
    assert verdicts == {"dontneed": "kept", "remove": "broken", "wipe-on-fork": "broken"}
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == ["remove", "wipe-on-fork"]
    for name in ("wipe-on-fork", "remove"):
        text = (tmp_path / "reports" / name / "report.md").read_text()
        assert text.startswith(f"# this QEMU: {name} is broken\n")
        assert "\nexit status 1\n" in text and "\nkept\nexit status 0\n" in text
    assert "QEMU: ram_block_discard_range" in text
    assert "int main" in (tmp_path / "reports" / "remove" / "reproducer.c").read_text()
    refused(zerotax("contract", "--promise", "dontneed", "--report", tmp_path / "reports", cwd=tmp_path), "--report")


def test_a_command_that_cannot_start_the_tests_is_refused(tmp_path):
    refused(zerotax("contract", "--promise", "dontneed", "--under", "/no/such/emulator", cwd=tmp_path), "/no/such/emulator")


@pytest.mark.parametrize("command", ["/bin/false", "/bin/true", "crash"])
def test_a_command_that_runs_no_test_is_no_kernel_that_keeps_its_promises(command, tmp_path):
    if command == "crash":
        crash = tmp_path / "crash"
        crash.write_text("#!/bin/sh\nkill -SEGV $$\n")
        crash.chmod(0o755)
        command = str(crash)
    done = zerotax("contract", "--promise", "dontneed", "--promise", "mmap-fresh", "--under", command, "--json",
                   tmp_path / "c.json")
    assert done.returncode == 3, done.stderr
    assert len(done.stderr.splitlines()) == 1 and "without a verdict on 2 promises" in done.stderr
    assert "None of 2 promises could be tested" in done.stdout
    document = json.loads((tmp_path / "c.json").read_text())
    check_schema(document, "contract")
    assert {row["verdict"] for row in document["promises"]} == {"not testable here"}


def test_a_suite_that_dies_on_one_promise_has_not_kept_it(tmp_path):
    """An emulator that crashes in some tests must not pass because of the other tests."""
    emulator = tmp_path / "emulator"
    emulator.write_text('#!/bin/sh\ncase "$*" in *mmap-fresh*) kill -SEGV $$ ;; esac\nexec "$@"\n')
    emulator.chmod(0o755)
    chosen = ["--promise", "dontneed", "--promise", "mmap-fresh"]
    done = zerotax("contract", *chosen, "--under", emulator, "--full")
    assert done.returncode == 3 and "without a verdict on 1 promise:" in done.stderr, done.stderr
    said = " ".join(done.stdout.split())
    assert "killed by SIGSEGV" in said and "1 kept" in said
    # A broken promise is a finding, even if other tests could not run.
    done = zerotax("contract", *chosen, "--under", emulator, ZEROTAX_CONTRACT_SUITE=str(LIAR),
                   ZEROTAX_CONTRACT_LIE="dontneed-nothing")
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize("text", ["", "{}\n", "nonsense\n", "[1]\n", '{"suite": "zerotax-contract/2"}\n'])
def test_a_file_that_is_no_result_of_the_suite_is_refused(text, tmp_path):
    (tmp_path / "x").write_text(text)
    refused(zerotax("contract", "--results", tmp_path / "x", cwd=tmp_path), "zerotax-contract --json")


def test_a_missing_suite_is_said():
    done = zerotax("contract", ZEROTAX_CONTRACT_SUITE="/no/such/suite")
    assert done.returncode == 3 and "/no/such/suite is missing" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_promise_that_crashes_is_a_result():
    # This lie reports success for a mmap that maps nothing, so the test's child crashes.
    [row] = rows("--only", "mmap-fresh", "--lie", "mmap-nothing", program=LIAR)
    assert row["verdict"] == "broken" and row["detail"].startswith("killed by SIGSEGV in: check(m0")


def test_a_promise_that_hangs_is_a_result():
    [row] = rows("--only", "dontneed", "--lie", "hang", "--limit", 0.2, "--seconds", 0.1, program=LIAR)
    assert row["verdict"] == "broken" and row["detail"].startswith("no end within 0.3 s; it hangs in: r = madvise(m0")


def test_a_promise_that_is_slow_does_not_hang():
    # 32,000 calls take a millisecond each. All calls together exceed four times the limit, but no step takes as long as
    # the limit.
    [row] = rows("--only", "enomem-mappings", "--lie", "slow", "--limit", 1, "--seconds", 0.1, program=LIAR)
    assert row["verdict"] == "not testable here"
    assert row["detail"].startswith("too slow: no end within 4.4 s; the last step was: r = mprotect(m0")


def test_interrupted_it_shows_what_was_finished():
    with subprocess.Popen([ZEROTAX, "contract", "--full", "--promise", "mmap-fixed", "--promise", "fork-race", "--seconds",
                           "600"],
                          env=clean_environment(ZEROTAX_CONTRACT_SUITE=str(SUITE)), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        text, errors = run.communicate(timeout=30)
    # A fast machine may already have finished all 10,000 tries.
    if run.returncode != 0:
        assert run.returncode == 130 and "interrupted" in errors and "mmap-fixed" in text


def test_nobody_can_run_it():
    if os.geteuid() != 0:
        pytest.skip("only root can become nobody")
    skip_if_unreadable()
    found = promises_in(subprocess.run([*NOBODY, SUITE, "--json", "--seconds", "0.05"], capture_output=True, text=True,
                                       check=False).stdout)
    assert len(found) >= 80 and not [row for row in found if row["verdict"] == "broken"]


@pytest.mark.parametrize("limit", ["--as=20000000", "--nproc=1"])
def test_without_memory_or_processes_nothing_is_kept_that_was_not_tested(limit):
    """A promise that could not be tested is "not testable here"; no promise is reported as broken."""
    if os.geteuid() != 0:
        pytest.skip("only root can become nobody, whom both limits bind")
    skip_if_unreadable()
    # Other tests run as nobody at the same time, and the kernel's limit counts all processes of a user.
    somebody = ["setpriv", "--reuid=64321", "--regid=65534", "--clear-groups"]
    done = subprocess.run(["prlimit", limit, *somebody, SUITE, "--json", "--seconds", "0.05"], capture_output=True, text=True,
                          check=False)
    found = {row["id"]: row for row in promises_in(done.stdout)}
    assert len(found) >= 80
    # Nothing can be tested without a second process, so the exit status must not be that of kept promises.
    assert done.returncode == (3 if limit == "--nproc=1" else 0)
    short = {"--as=20000000": {"mmap-fresh", "enomem-mappings", "enomem-commit"}, "--nproc=1": set(found)}[limit]
    for name in short:
        assert found[name]["verdict"] == "not testable here" and "failed: E" in found[name]["detail"], found[name]


def test_what_largecache_says_it_relies_on_is_kept():
    page = (pathlib.Path(__file__).parents[3] / "allocators/largecache/DESIGN.md").read_text()
    named = re.findall(r"`([a-z-]+)`", page.split("## What largecache relies on")[1].split("`zerotax contract`")[0])
    listed = {row["id"]: row["relied_on_by"] for row in rows("--list")}
    assert len(named) >= 10 and all("largecache" in listed[name] for name in named)
    found = rows(*(word for name in named for word in ("--only", name)))
    # scan-written and scan-steps need Linux 6.7 or later. On older kernels, largecache reads no pagemap.
    assert {row["id"]: row["verdict"] for row in found if row["verdict"] == "broken"} == {}
    assert all(row["verdict"] == "kept" for row in found if not row["id"].startswith("scan-"))


def test_it_needs_no_proc_and_no_folder(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can change the root folder")
    shutil.copy(SUITE, tmp_path / "suite")
    done = subprocess.run(["chroot", tmp_path, "/suite", "--json", "--seconds", "0.05"], capture_output=True, text=True,
                          check=False)
    found = {row["id"]: row for row in promises_in(done.stdout)}
    assert done.returncode == 0 and len(found) >= 80
    for name in ("pagemap-written", "scan-written", "soft-dirty", "tmpfs-holes"):
        assert found[name]["verdict"] == "not testable here" and found[name]["detail"], name
    assert found["dontneed"]["verdict"] == found["fork-race"]["verdict"] == "kept"


@pytest.mark.parametrize(("arguments", "said"), [
    (["--seconds", "-1"], "--seconds"), (["--seconds", "nan"], "--seconds"), (["--only", "dontned"], "dontned"),
    (["--only"], "--only"), (["--tries", "1"], "--tries"), (["--limit", "0"], "--limit")])
def test_the_suite_refuses_bad_words_in_one_line(arguments, said):
    done = suite(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_page_names_every_promise():
    page = (pathlib.Path(__file__).parents[3] / "harness/kernel/contract/PROMISES.md").read_text()
    for row in rows("--list"):
        assert f"`{row['id']}`" in page and row["statement"] in page.replace("\n", " "), row["id"]
