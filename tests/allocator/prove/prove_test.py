"""`zerotax prove` finds planted mistakes, and writes programs that show them. A clean verdict states its extent."""
import json
import subprocess
import time

import pytest
from conftest import BUILD, KIB, PLANTED, check_schema, interrupt, zerotax
from refusing import refused

pytestmark = pytest.mark.timeout(400)
if not (BUILD / "libexec" / "zerotax-prove-calls").exists():
    pytest.skip("zerotax-prove-calls is not built with a sanitizer", allow_module_level=True)
# With --size, prove searches for no thresholds.
QUICK = ["--size", "128KiB", "--seed", "1"]


def proved(name):
    return f"{name}={PLANTED / 'proved' / f'lib{name}.so'}"


def document(path):
    read = json.loads(path.read_text())
    check_schema(read, "prove")
    return read


def test_the_c_library_keeps_its_promises_to_an_extent_that_is_said(tmp_path):
    done = zerotax("prove", "--allocator", "glibc", *QUICK, "--seconds", 4, "--json", tmp_path / "prove.json",
                   "--junit", tmp_path / "prove.xml", "--markdown", tmp_path / "prove.md")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("glibc kept its promises: ") and len(done.stdout.splitlines()) <= 24
    proof, = document(tmp_path / "prove.json")["proofs"]
    coverage = proof["coverage"]
    reused = sum(each["main_thread"] + each["other_threads"] for each in coverage["reused"])
    assert proof["verdict"] == "clean" and coverage["zeroing_calls"] > reused > 100 and coverage["checked_bytes"] > KIB
    assert f"{reused:,} of {coverage['zeroing_calls']:,} calls that promise zeros" in " ".join(done.stdout.split())
    assert 'failures="0"' in (tmp_path / "prove.xml").read_text() and "kept its promises" in (tmp_path / "prove.md").read_text()


@pytest.mark.parametrize("name, most_calls", [("tail_of_words", 20), ("refill_marks_batch_fresh", 60)])
def test_a_planted_mistake_becomes_a_program_that_shows_it(tmp_path, name, most_calls):
    out, shows = tmp_path / "proof", tmp_path / "shows"
    done = zerotax("prove", "--allocator", proved(name), *QUICK, "--seconds", 60, "--out", out, "--json", tmp_path / "x.json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{name} broke a promise: " in " ".join(done.stdout.split())
    finding = document(tmp_path / "x.json")["proofs"][0]["finding"]
    program = finding["program"]
    assert program["shows"] is True and program["control_shows"] is False and program["calls"] <= most_calls, program
    assert sorted(path.name for path in out.iterdir()) == ["prove.json", f"{name}.c"]
    assert subprocess.run(["cc", "-O0", "-fno-builtin", "-pthread", "-o", shows, out / f"{name}.c"], check=False).returncode == 0
    assert subprocess.run([shows], stdout=subprocess.DEVNULL, check=False).returncode == 0
    library = {"LD_PRELOAD": proved(name).split("=")[1]}
    assert subprocess.run([shows], env=library, stdout=subprocess.DEVNULL, check=False).returncode == 1
    again = zerotax("prove", "--read", tmp_path / "x.json", "--out", tmp_path / "again")
    assert again.returncode == 1 and (tmp_path / "again" / f"{name}.c").read_text() == (out / f"{name}.c").read_text()
    full = zerotax("prove", "--read", tmp_path / "x.json", "--full")
    assert "int main(void)" in full.stdout and "Zeroing calls on reused memory" in full.stdout


def test_a_known_finding_and_a_known_function_are_set_aside(tmp_path):
    words = ["prove", "--allocator", proved("tail_of_words"), *QUICK, "--seconds", 4, "--json", tmp_path / "x.json"]
    done = zerotax(*words, *[word for kind in ("not_zero", "contents_changed", "not_kept") for word in ("--without", kind)])
    assert done.returncode == 0, done.stdout + done.stderr
    done = zerotax(*words, "--without", "calloc")
    assert done.returncode == 3 and document(tmp_path / "x.json")["proofs"][0]["verdict"] == "untested", done.stdout


def test_functions_of_the_allocator_are_called(tmp_path):
    (tmp_path / "own.api").write_text("# malloc keeps no promise of zeros.\nmalloc n zero free p\n")
    done = zerotax("prove", "--allocator", "glibc", *QUICK, "--seconds", 20, "--api", tmp_path / "own.api",
                   "--json", tmp_path / "x.json", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    finding = document(tmp_path / "x.json")["proofs"][0]["finding"]
    assert (finding["kind"], finding["function"], finding["program"]["shows"]) == ("not_zero", "malloc", True)
    assert len(list((tmp_path / "results").glob("*/glibc.c"))) == 1, "a finding is written even without --out"


@pytest.mark.parametrize("name", ["crash", "crash_in_free", "hang", "hog", "null", "forks", "signals", "threads"])
def test_a_hostile_library_gets_a_verdict_in_time(name):
    begin = time.monotonic()
    done = zerotax("prove", "--allocator", f"{name}={PLANTED / f'libplanted_{name}.so'}", *QUICK, "--seconds", 4)
    assert done.returncode in (0, 1, 2, 3), done.stderr
    assert "defect in zerotax" not in done.stderr and time.monotonic() - begin < 60
    if done.returncode in (2, 3) and not done.stdout:
        said = [line for line in done.stderr.splitlines() if not line.startswith("proving: ")]
        assert len(said) == 1, done.stderr


def test_ctrl_c_keeps_the_extent_so_far(tmp_path):
    text, _ = interrupt("prove", "--allocator", "glibc", *QUICK, "--seconds", 300, "--json", tmp_path / "x.json", after_s=4)
    assert "interrupted without a finding" in " ".join(text.split())
    read = document(tmp_path / "x.json")
    assert read["complete"] is False and read["proofs"][0]["verdict"] == "interrupted"


@pytest.mark.parametrize("words, said", [
    (["--allocator", "glibb"], "glibc"),
    (["--allocator", "glibc", "--without", "misalinged"], "did you mean misaligned?"),
    (["--allocator", "glibc", "--api", "bad.api"], "bad.api: 'x y'"),
    (["--allocator", "glibc", "--api", "none.api"], "none.api"),
    (["--allocator", "glibc", "--size", "100M"], "100MiB"),
    (["--allocator", "glibc", "--threads", "17"], "1 to 16"),
    (["--allocator", "glibc", "--seconds", "0"], "--seconds"),
    (["--read", "bad.api"], "bad.api"),
    (["--read", "x.json", "--seed", "3"], "--seed"),
    (["--allocator", f"partial={PLANTED / 'libplanted_partial.so'}"], "not a malloc replacement")])
def test_bad_input_is_refused_in_one_line(tmp_path, words, said):
    (tmp_path / "bad.api").write_text("x y\n")
    refused(zerotax("prove", *words, cwd=tmp_path), said)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.api"]
