"""`run`, `thresholds`, `findings` and `study` answer on one screen; --full prints every table."""

import json
import shutil

import pytest
from answers import check_screen
from conftest import MIB, NOBODY, PLANTED, SOURCE, options, planted, skip_if_unreadable, zerotax

pytestmark = pytest.mark.timeout(240)
REFERENCE = SOURCE / "results" / "reference"
MANY = ["planted_memset", "planted_never", "planted_populate", "planted_one_in_seven", "planted_free_memset"]
SIZES = options("size", ["64KiB", "256KiB", "1MiB", "2MiB"])


def answered(*words, status=0, prefix=(), **environment):
    """Returns the lines of the answer, and checks that the answer fits one screen. Standard output is a pipe."""
    done = zerotax(*words, prefix=prefix, timeout=200, **environment)
    assert done.returncode == status, done.stderr
    lines = done.stdout.splitlines()
    check_screen(lines)
    return lines


def joined(lines):
    """Returns the answer as one line, with commands joined as a shell joins them."""
    return " ".join("\n".join(lines).replace(" \\\n", " ").split())


@pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "nobody"])
def test_run_names_the_worst_call_and_has_the_most_costly_row_first(prefix):
    if prefix:
        skip_if_unreadable()
    # A memset of 32 MiB takes longer than an mmap on any machine.
    lines = answered("run", *planted("planted_never", "planted_memset"), "--size", 32 * MIB, "--ops", 8, prefix=prefix,
                     NO_COLOR="1", cwd="/")
    assert joined(lines).startswith("calloc zeroes memory needlessly at 1 of 2 points. Worst: planted_memset")
    assert "each calloc zeroes 33,554,432 bytes that are zero already" in joined(lines)
    rows = [line for line in lines if line.startswith("planted_")]
    assert rows[0].startswith("planted_memset") and rows[0].endswith("*") and not rows[1].endswith("*")
    assert lines[-1].endswith(": --full") and any(line.startswith("Try:   zerotax report ") for line in lines)


def test_run_of_many_points_says_how_many_rows_are_missing():
    lines = answered("run", *planted(*MANY), *SIZES, *options("touch", [0, 1]), "--ops", 8)
    assert any(line.startswith("and ") and line.endswith(" more rows") for line in lines), lines
    assert any(line.startswith("! ") for line in lines), "free writes zeros, and calls are not alike"


def test_run_without_a_cost_has_nothing_to_do():
    lines = answered("run", *planted("planted_never"), "--size", MIB, "--ops", 8)
    assert lines[0].startswith("calloc zeroes nothing needlessly at any of 1 point.")
    assert not any(line.startswith("Try:") for line in lines)


def test_a_block_that_does_not_fit_is_not_said_to_cost_nothing():
    lines = answered("run", "--allocator", "glibc", "--size", 64 << 40, "--touch", 1, "--ops", 8)
    assert joined(lines).startswith("No point was measured. First: glibc ") and "memory" in joined(lines)


def test_run_of_an_allocator_that_is_killed_says_so_first():
    lines = answered("run", *planted("planted_memset", "planted_crash"), "--size", MIB, "--ops", 8, status=1)
    assert joined(lines).startswith("1 of 2 points failed. First: planted_crash at 1 MiB, touch 0: crashed:")
    assert "killed by SIGSEGV" in joined(lines)
    assert [line for line in lines if line.startswith("planted_")][0].endswith("!")


@pytest.mark.parametrize("case, subject, heading", [
    ("refill_loop", "The kernel zeroes ", "refilled"), ("fork_after_calloc", "A fork takes ", "parent"),
    ("recv_buffer", "Receiving data takes ", "CPU s/GB")])
def test_run_of_another_case_has_that_case_s_table(case, subject, heading):
    lines = answered("run", "--allocator", "glibc", "--case", case, "--size", "256KiB", "--ops", 6)
    assert lines[0].startswith(subject) and lines[lines.index("") + 1].split(" ")[0] in ("one", "forking", "allocator")
    assert heading in lines[lines.index("") + 1]


def test_loops_have_the_cost_of_needless_zeros_first():
    lines = answered("run", "--loop", *planted("planted_never", "planted_memset"), *options("size", ["1MiB", "64KiB"]),
                     "--ops", 2000)
    assert joined(lines).startswith("At 1 MiB, planted_memset: redundant zeroing costs ")
    assert "Try:   find the sizes at which that changes:" in lines[lines.index("", 5) + 1]
    assert str(PLANTED / "libplanted_memset.so") in "".join(lines)


def test_thresholds_name_the_most_costly_byte():
    words = [*planted("planted_threshold_pair"), "--from", "64KiB", "--to", "4MiB", "--touch", 0]
    lines = answered("thresholds", *words)
    assert lines[0].startswith("planted_threshold_pair changes behavior at 2 sizes, each found to the byte.")
    assert "The most costly is 1,000,033 bytes" in joined(lines)
    rows = [line.split() for line in lines if line.startswith("planted_thr") and "," in line.split()[1]]
    assert [row[1] for row in rows] == ["1,000,033", "1,000,003"], lines
    assert "--size 1000032 --size 1000033" in joined(lines)


def test_thresholds_without_one_say_what_calls_do():
    lines = answered("thresholds", *planted("planted_memset"), "--from", "64KiB", "--to", "256KiB", "--touch", 0)
    text = joined(lines)
    assert "no change of behavior was found from 64 KiB to 256 KiB" in text and "each later calloc zeroes needlessly" in text
    assert "zerotax report --allocator planted_memset=" in text


def test_a_search_that_fails_says_why():
    lines = answered("thresholds", *planted("planted_crash"), "--from", "64KiB", "--to", "128KiB", "--touch", 0, status=1)
    assert "! The search of planted_crash failed with touch 0, main thread: at 64 KiB: crashed" in joined(lines)


def test_full_has_all_of_them_and_json_is_the_same(tmp_path):
    file = REFERENCE / "thresholds.json"
    lines = answered("thresholds", "--read", file, "--json", tmp_path / "a.json")
    assert joined(lines).startswith("7 allocators change behavior at 19 sizes, each found to the byte. The most costly is ")
    full = zerotax("thresholds", "--read", file, "--full", "--json", tmp_path / "b.json").stdout
    assert full.count("\n") > 100 and "(before: " in full
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_thresholds_of_a_file_can_be_shown_for_one_allocator(tmp_path):
    words = ["thresholds", "--read", REFERENCE / "thresholds.json", "--allocator"]
    lines = answered(*words, "glibc", "--json", tmp_path / "glibc.json")
    assert lines[0].startswith("glibc 2.36 changes behavior at ")
    whole = json.loads((REFERENCE / "thresholds.json").read_text())
    part = json.loads((tmp_path / "glibc.json").read_text())
    assert part["thresholds"] == [each for each in whole["thresholds"] if each["allocator"] == "glibc"]
    assert {lane["allocator"] for lane in part["lanes"]} == {"glibc"}
    done = zerotax(*words, "glib")
    assert done.returncode == 2 and "no search of 'glib'" in done.stderr and "glibc" in done.stderr


def test_findings_have_the_worst_first():
    lines = answered("findings", REFERENCE, status=1)
    findings = json.loads(zerotax("findings", REFERENCE, "--json", "-").stdout)["findings"]
    severities = [line.split()[-1] for line in lines if line.endswith((" high", " medium", " low"))]
    assert severities == sorted(severities) and severities[0] == "high"
    worst = next(each for each in findings if each["severity"] == "high")
    assert worst["title"].split(",")[0] in joined(lines) and worst["id"] in joined(lines)
    assert "Try:   Set " in joined(lines) or "Try: Set " in joined(lines)
    assert "zerotax report --allocator " in joined(lines)
    full = zerotax("findings", REFERENCE, "--full").stdout
    assert all(each["id"] in full for each in findings)


def test_an_allocator_without_findings_has_none(tmp_path):
    zerotax("run", *planted("planted_never"), "--size", MIB, "--ops", 8, "--json", tmp_path / "run.json")
    lines = answered("findings", tmp_path / "run.json")
    assert "has no findings" in joined(lines) and "1 point of 1 allocator" in joined(lines)


def test_the_summary_has_a_row_for_each_allocator():
    lines = answered("findings", REFERENCE, "--summary")
    summary = json.loads((REFERENCE / "summary.json").read_text())
    first = summary["allocators"][summary["ranking"][0]]
    rows = [line for line in lines if line.startswith(tuple(each["label"][:20] for each in summary["allocators"]))]
    assert len(rows) == len(summary["allocators"]) and rows[0].startswith(first["label"])
    assert " of 7 allocators zero memory needlessly: " in joined(lines)
    assert f"zerotax findings {REFERENCE}" in joined(lines)


@pytest.mark.long("a study of counts takes a minute")
def test_study_names_who_zeroes_and_its_files(tmp_path):
    folder = tmp_path / "out"
    lines = answered("study", "--allocator", "glibc", "--audit-only", "--out", folder)
    text = joined(lines)
    assert text.startswith("1 of 1 allocator zeroes memory needlessly: glibc.")
    assert f"zerotax findings {folder}" in text and f"{folder}/report.html" in text
    shutil.rmtree(folder)
