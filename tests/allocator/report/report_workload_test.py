"""`zerotax report --workload` reduces a recording to a C program with the fewest calls that show an allocator's
disadvantage.
"""

import json
import re
import subprocess

import pytest
from conftest import PLANTED, SOURCE, check_schema, clean_environment, zerotax
from recording import PROGRAMS
from refusing import refused


def library(version):
    return PLANTED / f"libplanted_zeroes_from_{version}_mib.so"


@pytest.fixture(scope="module", name="known")
def known_recording(tmp_path_factory):
    """A recording with ten callocs of 1 MiB among a thousand others. glibc maps these blocks each time, and does not
    zero them.
    """
    path = tmp_path_factory.mktemp("calls") / "known.calls"
    done = zerotax("record", "--text", "/dev/null", "--calls", path, "--allocator", "glibc", "--env",
                   "glibc:MALLOC_MMAP_THRESHOLD_=65536", "--", PROGRAMS / "known")
    assert done.returncode == 3, done.stderr
    return path


def report(recording, *options):
    return zerotax("report", "--workload", recording, *options)


def test_a_planted_fault_is_reduced_to_a_program_that_a_c_compiler_alone_shows(known, tmp_path):
    out = tmp_path / "report"
    done = report(known, "--allocator", f"new={library(1)}", "--than", f"old={library(2)}", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["replay.json", "report.md", "reproducer.c"]
    source = (out / "reproducer.c").read_text()
    calls = re.search(r"calls\[\] = \{\n(.*?)\};", source, re.DOTALL).group(1)
    # One calloc of 1 MiB takes 256 more page faults under version 1 than under version 2, and this excess suffices.
    # With random faults, the reduction may keep a few more calls.
    assert calls.count("{CALLOC, ") >= 1 and ", 1048576, 0}" in calls and calls.count("{") <= 12, calls
    subprocess.run(["cc", "-O2", "-o", tmp_path / "reproducer", out / "reproducer.c"], check=True)
    said = {version: subprocess.run([tmp_path / "reproducer"], capture_output=True, text=True, check=False,
                                    env=clean_environment(LD_PRELOAD=str(library(version)))) for version in (1, 2)}
    assert (said[1].returncode, said[2].returncode) == (1, 0), said
    faults = [int(re.search(r"(\d+) page faults", said[version].stdout).group(1)) for version in (1, 2)]
    assert 256 <= faults[0] < 600 and faults[0] - faults[1] >= 250, faults
    text = (out / "report.md").read_text()
    assert re.match(r"# new takes [0-9]+ page faults for what old does with [0-9]+\n", text)
    assert "LD_PRELOAD=" in text and "does not show" in text
    document = json.loads((out / "replay.json").read_text())
    check_schema(document, "replay")
    assert [each["allocator"]["name"] for each in document["replays"]] == ["old", "new"]


def test_where_there_is_nothing_to_show_it_says_so(known, tmp_path):
    done = report(known, "--allocator", f"new={library(2)}", "--than", f"old={library(1)}", "--out", tmp_path / "out")
    assert done.returncode == 1 and re.match("nothing to report: new takes [0-9,]+ page faults fewer than old", done.stdout)
    assert not (tmp_path / "out").exists()


@pytest.mark.long("a real program reduced")
def test_a_recording_of_a_real_program_is_reduced(tmp_path):
    done = report(SOURCE / "harness/program/replay/workloads/sqlite3.calls", "--allocator", "tcmalloc", "--out", tmp_path / "out")
    if done.returncode == 2 and "tcmalloc" in done.stderr:
        pytest.skip("no tcmalloc here")
    assert done.returncode == 0, done.stdout + done.stderr
    shown, calls = map(int, re.search(r"in (\d+) of ([\d,]+) calls", done.stdout.replace(",", "")).groups())
    assert 1 <= shown <= 200 < calls


@pytest.mark.parametrize("options, complaint", [
    (["--workload", "absent.calls", "--allocator", "glibc"], "absent.calls"),
    (["--workload", SOURCE / "README.md", "--allocator", "jemalloc"], "not a file of recorded calls"),
    (["--workload", SOURCE / "harness/program/replay/workloads" / "xz.calls", "--allocator", "glibc"], "is compared with itself"),
    (["--allocator", "glibc", "--than", "jemalloc"], "--than is given without --workload")])
def test_bad_input_is_refused(options, complaint, tmp_path):
    refused(zerotax("report", "--out", tmp_path / "out", *options), complaint)
