"""`zerotax record --calls` writes the calls of a program, and `zerotax replay` repeats them."""

import collections
import json
import re
import runpy
import sys

import pytest
from conftest import KIB, MIB, PAGE, PLANTED, SOURCE, check_schema, is_na, zerotax
from recording import PROGRAMS

READER = re.search(r"^```python\n(.*?)^```$", (SOURCE / "docs" / "replay.md").read_text(), re.DOTALL | re.MULTILINE).group(1)
JSON_WORK = "import json\nwords = {str(i): [i, 'x' * (i % 300)] for i in range(10_000)}\njson.loads(json.dumps(words))\n"
PYTHON = ["env", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-c", JSON_WORK]
REFILL = [PROGRAMS / "refill", "malloc", 12, 8, MIB]
LOOP = [PROGRAMS / "loop", 3 * MIB // 2, 10]
GROWS = [PROGRAMS / "grows", 20, 64 * KIB]
THREADS = [PROGRAMS / "threads"]


class Recording:
    """A recording of a program's calls, read by the example reader in docs/replay.md."""

    def __init__(self, folder, *command, options=(), status=0):
        self.path = folder / "x.calls"
        report = folder / "record.json"
        done = zerotax("record", "--force", "--text", "/dev/null", "--json", report, "--calls", self.path, *options, "--",
                       *command)
        assert done.returncode == status, done.stderr
        self.said = done.stderr
        self.report = json.loads(report.read_text())
        reader = folder / "reader.py"
        reader.write_text(READER)
        words, sys.argv = sys.argv, [str(reader), str(self.path)]
        try:
            found = runpy.run_path(str(reader))
        finally:
            sys.argv = words
        self.about = found["about"]
        check_schema(self.about, "calls")
        self.events = [list(found["events"](found["streams"][i])) for i in range(len(self.about["processes"]))]

    def count(self, kind, process=None, least=0):
        """Returns the number of events of a kind, for blocks of at least `least` bytes."""
        events = [e for i, all_of_it in enumerate(self.events) if process in (None, i) for e in all_of_it]
        size = {"realloc": lambda e: e[2][0]}.get(kind, lambda e: e[1])
        return sum(e[0] == kind and size(e) >= least for e in events)

    def calls(self):
        """Returns the numbers of calls by the rules of `record`: an aligned call counts as malloc, and realloc to size
        0 as free.
        """
        return {"malloc_calls": self.count("malloc") + self.count("aligned"), "calloc_calls": self.count("calloc"),
                "realloc_calls": self.count("realloc"), "free_calls": self.count("free")}

    def replay(self, *options):
        path = self.path.with_suffix(".json")
        done = zerotax("replay", self.path, "--json", path, "--force", *options)
        assert done.returncode == 0, done.stderr + done.stdout
        document = json.loads(path.read_text())
        check_schema(document, "replay")
        assert max(map(len, done.stdout.splitlines())) <= 80 or str(self.path) in done.stdout
        assert all(each["failed_calls"] == 0 for each in document["replays"])
        return document


@pytest.fixture(scope="module", name="recorded")
def _recorded(tmp_path_factory):
    """Records the programs of several tests once. No test writes to the files."""
    made = {}

    def recording_of(program, status=0):
        name = " ".join(map(str, program))
        if name not in made:
            made[name] = Recording(tmp_path_factory.mktemp("recorded"), *program, status=status)
        return made[name]
    return recording_of


@pytest.mark.parametrize("program, status", [
    (REFILL, 0), (GROWS, 0), ([PROGRAMS / "known"], 3), (THREADS, 0)],
    ids=["refill", "grows", "known", "threads"])
def test_the_reader_of_the_docs_finds_every_call(recorded, program, status):
    found = recorded(program, status)
    totals = found.report["totals"]
    assert found.calls() == {key: totals[key] for key in found.calls()}
    rows = found.about["processes"]
    for key, kind in (("mallocs", "malloc"), ("callocs", "calloc"), ("aligned", "aligned"), ("reallocs", "realloc"),
                      ("frees", "free")):
        assert [row[key] for row in rows] == [found.count(kind, i) for i in range(len(rows))]
    assert all(row["lost_threads"] == 0 for row in rows)
    assert not found.about["limited"] and found.about["allocator"] == "libc.so.6"
    assert found.about["recorded"]["kernel_zeroed_bytes"] == totals["kernel"]["zeroed_bytes"]


def test_blocks_sizes_and_pages_are_those_of_the_program(recorded):
    refill = recorded(REFILL)
    assert refill.count("malloc", least=MIB) == 96
    # A block begins 16 bytes after the start of a page, so it covers one page more.
    assert sum(e[0] == "touched" and e[2] == [0, MIB // PAGE + 1] for e in refill.events[0]) == 96
    grows = recorded(GROWS)
    assert grows.count("realloc", least=64 * KIB) == 20
    # The last block has 17 pages of the first block and 9 pages of each step. Each step shares one page with the step
    # before. realloc also copied a few pages while the buffer was in the heap.
    assert 196 <= max(sum(e[2][1::2]) for e in grows.events[0] if e[0] == "touched") <= 220


def test_threads_and_forks_are_recorded(recorded):
    found = recorded(THREADS)
    parent, *children = found.about["processes"]
    assert parent["threads"] == 9 and "parent" not in parent
    assert found.count("end") == 8 and found.count("fork") == 8
    assert sorted(child["fork"] for child in children) == list(range(8))
    assert all(child["parent"] == 0 for child in children)
    assert [found.count("calloc", i, least=2_000_000) for i in range(1, 9)] == [3] * 8


def test_what_the_program_maps_itself_is_recorded_and_replayed(tmp_path):
    found = Recording(tmp_path, PROGRAMS / "refill", "unmap", 40, 1, MIB)
    assert found.count("map", least=MIB) == found.count("unmap") == found.about["processes"][0]["maps"] == 40
    errors = found.replay("--allocator", "glibc")["errors"]
    assert abs(errors["refilled_bytes"]) < 0.05 and abs(errors["minor_faults"]) < 0.05


@pytest.mark.parametrize("program, status", [
    (REFILL, 0), (GROWS, 0), ([PROGRAMS / "known"], 3)], ids=["refill", "grows", "known"])
def test_replay_under_the_same_allocator_does_what_the_program_did(recorded, program, status):
    replay = recorded(program, status).replay("--allocator", "glibc")
    assert replay["replays"][0]["as_recorded"]
    for key in ("zero_fill_faults", "kernel_zeroed_bytes", "refilled_bytes", "returned_bytes", "zeroed_bytes", "peak_bytes"):
        assert abs(replay["errors"][key]) < 0.05, (key, replay["errors"], replay["recording"]["counts"])
    assert "as recorded, differs from the recorded run by: zero-fill faults" in replay["prediction"]


def test_other_allocators_rank_as_they_do_under_the_program(recorded, tmp_path):
    names = ["glibc", "jemalloc", "mimalloc"]
    replay = recorded(REFILL).replay(*[word for name in names for word in ("--allocator", name)])
    replayed = [each["counts"]["refilled_bytes"] for each in replay["replays"]]
    real = []
    for name in names:
        report = tmp_path / f"{name}.json"
        zerotax("record", "--text", "/dev/null", "--json", report, "--allocator", name, "--", *REFILL)
        real.append(json.loads(report.read_text())["totals"]["kernel"]["refilled_bytes"])
    assert sorted(names, key=lambda n: replayed[names.index(n)]) == sorted(names, key=lambda n: real[names.index(n)])
    assert replayed[0] > 50 * max(replayed[1], MIB), "glibc returns what it needs again"
    assert [each["as_recorded"] for each in replay["replays"]] == [True, False, False]


def test_what_an_allocator_does_after_a_time_it_does_in_the_replay(tmp_path):
    returned = []
    for milliseconds in (0, 60):
        found = Recording(tmp_path, PROGRAMS / "paused", 10, milliseconds)
        units = found.count("time", least=1) and sum(e[1] for e in found.events[0] if e[0] == "time")
        assert units * 65_536 >= 10 * milliseconds * 1_000_000
        replay = found.replay("--allocator", "mimalloc")["replays"][0]
        returned.append(replay["counts"]["returned_bytes"])
    assert returned[0] < MIB and returned[1] > 5 * MIB, returned


def test_data_and_stack_of_the_program_are_populated(tmp_path):
    found = Recording(tmp_path, PROGRAMS / "static_data")
    row = found.about["processes"][0]
    assert 4 * MIB + 400 * KIB <= row["image_zeroed_bytes"] <= 5 * MIB
    assert 2 * MIB <= row["image_copied_bytes"] <= 3 * MIB
    replay = found.replay("--allocator", "glibc")
    for key in ("minor_faults", "zero_fill_faults", "kernel_zeroed_bytes", "peak_bytes"):
        assert abs(replay["errors"][key]) < 0.05, (key, replay["errors"])


def test_a_recording_is_a_command(recorded, tmp_path):
    found = recorded(REFILL)
    report, baseline = tmp_path / "again.json", tmp_path / "baseline.json"
    done = zerotax("record", "--text", "/dev/null", "--json", report, "--", found.path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    totals = json.loads(report.read_text())["totals"]
    assert {key: totals[key] for key in found.calls()} == found.calls()
    words = ["--baseline", baseline, "--", found.path]
    assert zerotax("bless", "--allocator", "jemalloc", *words).returncode == 0
    done = zerotax("check", "--allocator", "jemalloc", *words)
    assert done.returncode == 0 and done.stdout.startswith("same: "), done.stdout
    done = zerotax("check", "--full", "--allocator", "glibc", *words)
    assert done.returncode == 1 and re.match("(worse|mixed): page faults ", done.stdout), done.stdout
    assert f"zerotax bless --baseline {baseline} --allocator glibc -- {found.path}" in done.stdout + done.stderr


@pytest.mark.long("all of them replayed")
def test_recordings_of_a_folder_are_replayed_together(tmp_path):
    (tmp_path / "refill").mkdir()
    (tmp_path / "grows").mkdir()
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name, program in (("refill", REFILL), ("grows", GROWS)):
        Recording(tmp_path / name, *program).path.rename(folder / f"{name}.calls")
    file = tmp_path / "workloads.json"
    allocators = ["--allocator", "glibc", "--allocator", "jemalloc"]
    done = zerotax("replay", folder, *allocators, "--json", file, "--full")
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    check_schema(document, "workloads")
    grows, refill = document["workloads"]
    assert [row["recording"]["path"] for row in (grows, refill)] == [str(folder / f"{n}.calls") for n in ("grows", "refill")]
    alone = tmp_path / "alone.json"
    assert zerotax("replay", folder / "refill.calls", *allocators, "--json", alone).returncode == 0
    one = json.loads(alone.read_text())
    assert refill["recording"] == one["recording"] and refill["errors"] == one["errors"]
    zeros = [row["counts"]["kernel_zeroed_bytes"] + row["counts"]["zeroed_bytes"] for row in refill["replays"]]
    assert zeros[0] > 10 * zeros[1], "glibc returns what it needs again"
    # An allocator is counted for each program in which no other allocator writes fewer zeros.
    assert re.fullmatch(r"Of 2 real programs, (jemalloc wrote the fewest zeros in [12], and glibc in [01]|"
                        r"glibc and jemalloc wrote the fewest zeros in 1 each)\.", document["sentence"]), document["sentence"]
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80 and sum(line.startswith("refill ") for line in lines) == 4
    done = zerotax("replay", tmp_path / "refill")
    assert done.returncode == 2 and "has no recordings" in done.stderr and done.stderr.count("\n") == 1


def test_an_allocator_that_hangs_is_tried_once(tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    found = Recording(tmp_path, *LOOP)
    for name in ("a", "b"):
        (folder / f"{name}.calls").write_bytes(found.path.read_bytes())
    file = tmp_path / "workloads.json"
    done = zerotax("replay", folder, "--allocator", f"hangs={PLANTED / 'libplanted_hang.so'}", "--timeout", 2, "--json",
                   file)
    assert done.returncode == 1, done.stderr
    first, second = (row["replays"][0]["counts"]["minor_faults"]["na"] for row in json.loads(file.read_text())["workloads"])
    assert "2 s" in first and second == "not tried, because the replay of a did not end"


@pytest.mark.long("two workloads under two allocators")
def test_a_fault_that_shows_in_one_workload_alone_is_found_there(tmp_path):
    for name in ("loop", "grows"):
        (tmp_path / name).mkdir()
    loop = Recording(tmp_path / "loop", *LOOP).path.rename(tmp_path / "loop.calls")
    grows = Recording(tmp_path / "grows", *GROWS).path.rename(tmp_path / "grows.calls")
    baseline = ["--baseline", tmp_path / "baseline.json"]

    def check(version, *more, status):
        library = PLANTED / f"libplanted_zeroes_from_{version}_mib.so"
        done = zerotax("check", "--full", *baseline, "--allocator", f"mine={library}", *more, "--", loop, grows)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    mine = f"mine={PLANTED / 'libplanted_zeroes_from_2_mib.so'}"
    assert zerotax("bless", *baseline, "--allocator", mine, "--", loop, grows).returncode == 0
    assert check(2, status=0) == "same: 2 commands are as in the baseline\n"
    report, junit = tmp_path / "check.json", tmp_path / "check.xml"
    said = check(1, "--json", report, "--junit", junit, status=1)
    document = json.loads(report.read_text())
    check_schema(document, "program_checks")
    assert said.startswith("worse: loop.calls; 1 of 2 commands are as in the baseline\n") and document["sentence"] in said
    assert "worse: memory zeroed by the allocator 0 B → 15 MiB: calloc in " in said, said
    assert [(each["name"], each["verdict"]) for each in document["checks"]] == [("loop.calls", "worse"), ("grows.calls", "same")]
    assert 'failures="0"' in junit.read_text() and "loop.calls" in junit.read_text()
    for more, complaint in ((["--html", tmp_path / "x.html", "--", loop, grows], "shows one command"),
                            (["--name", "a", "--", loop, grows], "names one recording"),
                            (["--", loop, "true"], "is not a recording"), (["--", loop, loop], "two recordings")):
        done = zerotax("check", *baseline, *more)
        assert done.returncode == 2 and complaint in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_damaged_recording_is_no_command(tmp_path):
    found = Recording(tmp_path, *GROWS)
    found.path.write_bytes(found.path.read_bytes()[:-5])
    done = zerotax("record", "--", found.path)
    assert done.returncode == 2 and "is damaged" in done.stderr and done.stderr.count("\n") == 1
    done = zerotax("check", "--allocator", "glibc", "--allocator", "jemalloc", "--baseline", tmp_path / "x.json", "--", "true")
    assert done.returncode == 2 and "one allocator" in done.stderr and done.stderr.count("\n") == 1


def test_a_setting_is_replayed(recorded):
    found = recorded(REFILL)
    kept = found.replay("--allocator", "glibc", "--env", "glibc:MALLOC_TRIM_THRESHOLD_=1073741824",
                        "--env", "glibc:MALLOC_MMAP_THRESHOLD_=33554432")
    assert "errors" not in kept and "no replay used this setup" in kept["prediction"]
    assert kept["replays"][0]["counts"]["refilled_bytes"] < kept["recording"]["counts"]["refilled_bytes"] / 50


def test_threads_may_run_freely(recorded):
    found = recorded(THREADS)
    for options in ((), ("--free-running",)):
        replay = found.replay("--allocator", "glibc", *options)
        assert replay["recording"]["calls"] == sum(found.calls().values())
        assert (replay["recording"]["processes"], replay["recording"]["threads"]) == (9, 17)
        assert replay["order"] == ("free_running" if options else "recorded")


def test_programs_of_one_recording_are_all_replayed(tmp_path):
    found = Recording(tmp_path, "sh", "-c", f"{PROGRAMS / 'grows'} 50 8192; {PROGRAMS / 'refill'} malloc 5 4 {MIB}; exit 0")
    names = collections.Counter(row["name"] for row in found.about["processes"])
    assert names["grows"] >= 1 and names["refill"] >= 1
    assert found.replay("--allocator", "glibc")["recording"]["processes"] == len(found.about["processes"])


def test_the_peak_of_programs_that_run_one_after_the_other_is_of_one_time(tmp_path):
    program = f"{PROGRAMS / 'refill'} malloc 2 4 {MIB}"
    found = Recording(tmp_path, "sh", "-c", "; ".join([program] * 8 + ["exit 0"]))
    peaks = [row["kernel"]["peak_bytes"] for row in found.report["processes"]]
    assert max(peaks) <= found.about["recorded"]["peak_bytes"] < 2 * max(peaks) < sum(peaks) / 3
    assert abs(found.replay("--allocator", "glibc")["errors"]["peak_bytes"]) < 0.5


def test_a_killed_program_leaves_what_it_had_done(tmp_path):
    program = "import os\nkept = [bytearray(100_000) for _ in range(200)]\nos.kill(os.getpid(), 9)\n"
    found = Recording(tmp_path, "/usr/bin/python3", "-c", program, status=128 + 9)
    assert found.count("malloc", least=100_000) + found.count("calloc", least=100_000) >= 200
    assert found.replay("--allocator", "glibc")["recording"]["calls"] == sum(found.calls().values())


TOUCHED, BLOCK = 400, 256 * KIB


@pytest.mark.parametrize("how, status", [("kill", 137), ("late", 137), ("map", 137), ("alone", 137)])
def test_pages_of_a_killed_program_are_within_bounds(tmp_path, how, status):
    """The program writes to one or two pages in each of 400 blocks of 64 pages. A replay writes only to pages that are
    in the recording.
    """
    truth = Recording(tmp_path, PROGRAMS / "touches", "exit", TOUCHED, BLOCK).about["recorded"]
    found = Recording(tmp_path, PROGRAMS / "touches", how, TOUCHED, BLOCK, status=status)
    assert not found.about["processes"][0]["pages_known"]
    replay = found.replay("--allocator", "glibc")
    assert replay["recording"]["unknown_blocks"] == TOUCHED and "errors" not in replay
    row = replay["replays"][0]
    for key, spare in (("minor_faults", 64), ("zero_fill_faults", 64), ("kernel_zeroed_bytes", 64 * PAGE)):
        assert is_na(row["counts"][key])
        # A mapping has no allocator's header, so one page less is populated in each block.
        expected = truth[key] - (TOUCHED if how == "map" else 0) * (PAGE if "bytes" in key else 1)
        assert row["at_least"][key] - spare <= expected <= row["at_most"][key] + spare, (key, row, truth)
    # Other tests may populate huge pages. The bound must include these pages.
    assert row["at_most"]["kernel_zeroed_bytes"] < TOUCHED * BLOCK
    assert "the end of a process was not seen" in replay["prediction"]
    # The recorder read the page tables while the program slept, so the recording has every page to which the program
    # wrote.
    if how != "kill":
        assert row["at_least"]["zero_fill_faults"] >= (1 if how == "map" else 2) * TOUCHED


def test_pages_of_a_recording_that_stopped_at_its_limit_are_those_of_the_program(tmp_path):
    found = Recording(tmp_path, PROGRAMS / "touches", "more", TOUCHED, BLOCK, options=["--calls-limit", "1KiB"])
    assert found.about["limited"]
    row = found.replay("--allocator", "glibc")["replays"][0]
    faults = row["counts"]["zero_fill_faults"]
    # Each block has two populated pages: one with the header, and one in the middle. If the program ended before the
    # recorder read the pages, only bounds are known.
    known = not is_na(faults)
    least, most = (faults, faults) if known else (row[key]["zero_fill_faults"] for key in ("at_least", "at_most"))
    assert known or not found.about["processes"][0]["pages_known"], row
    assert least <= 2 * TOUCHED + 200 and most >= TOUCHED, row
    assert least >= TOUCHED or not known


def test_faults_of_a_replay_with_many_threads_lack_only_those_of_the_replay_itself(tmp_path):
    found = Recording(tmp_path, PROGRAMS / "touches", "threads", 400, 70_000)
    assert found.about["processes"][0]["threads"] >= 400
    counts = found.replay("--allocator", "glibc")["replays"][0]["counts"]
    assert counts["zero_fill_faults"] <= counts["minor_faults"] <= counts["zero_fill_faults"] + 5 * 400, counts


def test_a_call_takes_four_bytes_at_most(tmp_path):
    found = Recording(tmp_path, *PYTHON)
    calls = sum(found.calls().values())
    assert calls > 50_000 and found.path.stat().st_size < 4 * calls


def test_the_file_stops_at_its_limit(tmp_path):
    found = Recording(tmp_path, *PYTHON, options=["--calls-limit", "20KiB"])
    assert found.about["limited"] and "stopped at --calls-limit" in found.said
    assert found.path.stat().st_size < 400 * KIB
    replay = found.replay("--allocator", "glibc")
    assert "errors" not in replay and "--calls-limit" in replay["prediction"]


def test_the_file_has_no_addresses(tmp_path):
    first, second = (Recording(tmp_path, *GROWS) for _ in range(2))
    kinds = [[e for e in each.events[0] if e[0] not in ("time", "touched")] for each in (first, second)]
    assert kinds[0] == kinds[1], "addresses differ from run to run"


@pytest.mark.parametrize("damage, said", [
    (lambda data: data[:len(data) // 2], "is damaged"),
    (lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:], "is damaged"),
    (lambda data: b"", "is not a file of recorded calls"), (lambda data: b"{}", "is not a file of recorded calls")],
    ids=["cut", "changed", "empty", "foreign"])
def test_damaged_files_are_refused_in_one_line(tmp_path, damage, said):
    found = Recording(tmp_path, *GROWS)
    found.path.write_bytes(damage(found.path.read_bytes()))
    done = zerotax("replay", found.path, "--allocator", "glibc")
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_an_allocator_that_crashes_is_said_and_the_others_are_shown(tmp_path):
    found = Recording(tmp_path, PROGRAMS / "refill", "malloc", 2, 2, MIB)
    crash = PLANTED / "libplanted_crash_in_free.so"
    done = zerotax("replay", found.path, "--allocator", "glibc", "--allocator", f"bad={crash}")
    assert done.returncode == 1 and "bad" in done.stdout and "killed by" in done.stdout
    assert not is_na(found.about["recorded"]["peak_bytes"])
