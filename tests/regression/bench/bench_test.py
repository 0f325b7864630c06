"""`zerotax bench` on benchmark programs names the benchmark that depends on the order, with the cause and the remedy.
"""
import json
import re
import subprocess

import pytest
from conftest import BUILD, SOURCE, check_schema, zerotax
from refusing import refused

BENCHED = BUILD / "tests" / "benched"
SHORT = "--benchmark_min_time=0.05"


@pytest.fixture(scope="module", name="found")
def _found(tmp_path_factory):
    file = tmp_path_factory.mktemp("bench") / "bench.json"
    done = zerotax("bench", "--full", "--json", file, "--rounds", "10", "--", BENCHED / "order", SHORT)
    document = json.loads(file.read_text())
    check_schema(document, "bench")
    return done, document


def benchmark(document, name):
    [found] = [each for each in document["benchmarks"] if each["name"] == name]
    return found


def test_the_one_that_depends_on_the_order_is_named(found):
    done, document = found
    verdicts = {each["name"]: each["verdict"] for each in document["benchmarks"]}
    # The machine must be quiet for a difference of time to be proven. bench_counts_test.cc tests that verdict.
    decode = verdicts.pop("BM_Decode")
    assert verdicts == {"BM_Plain": "independent", "BM_Concat": "independent"}
    assert (decode, done.returncode) in (("order-dependent", 1), ("counts differ", 0)), done.stdout + done.stderr
    text = " ".join(done.stdout.split())
    assert text.startswith("1 of 3 benchmarks is order-dependent: BM_Decode takes " if done.returncode == 1 else
                           "1 of 3 benchmarks has counts in order that differ from those alone; "
                           "a difference of its time is not proven")
    assert done.returncode == 0 or re.search("times as long (alone as after BM_Concat|after BM_Concat as alone)", text), text


def test_counts_are_those_of_one_iteration(found):
    decode = benchmark(found[1], "BM_Decode")
    # 8 blocks of 256 KiB. Headers, and the memory that stays at the end of the heap, add up to less than one block.
    assert 7 * 64 <= decode["alone"]["counts"]["minor_faults"] <= 8 * 65
    assert 7 << 18 <= decode["alone"]["counts"]["refilled_bytes"] <= 8.1 * 2**18
    assert decode["in_order"]["counts"]["minor_faults"] < 30 and decode["in_order"]["counts"]["refilled_bytes"] < 2**17
    assert decode["alone"]["counts"]["calls"] == pytest.approx(8, abs=0.5)
    assert benchmark(found[1], "BM_Plain")["alone"]["counts"]["calls"] < 0.01


def test_the_cause_is_named(found):
    decode = benchmark(found[1], "BM_Decode")
    assert decode["cause"]["before"] == "BM_Concat"
    assert decode["cause"]["place"].startswith("free in ") and "order.cc:" in decode["cause"]["place"]


@pytest.mark.long("a program more")
def test_a_setting_that_ends_it_is_found_by_trying(found):
    done, document = found
    pin = document["pin"]
    assert pin["name"] == "glibc: raised thresholds" and pin["benchmark"] == "BM_Decode"
    assert f"In CI: {pin['line']} {BENCHED / 'order'} {SHORT}" in done.stdout and document["next"] in done.stdout
    # With the setting, the proof is that no benchmark depends on the order.
    again = zerotax("bench", "--json", "-", "--rounds", "10", "--", BENCHED / "order", SHORT, **pin["env"])
    again_document = json.loads(again.stdout)
    assert again.returncode == 0 and {each["verdict"] for each in again_document["benchmarks"]} == {"independent"}, again.stderr


def test_times_are_those_of_the_program_itself(found):
    for each in found[1]["benchmarks"]:
        assert len(each["alone"]["times_ns"]) == len(each["in_order"]["times_ns"]) == found[1]["rounds"] >= 11
        assert each["shuffled"]["times_ns"] == []


@pytest.mark.long("bench_steady_test has twenty")
def test_a_steady_program_is_not_accused():
    done = zerotax("bench", "--json", "-", "--rounds", "10", "--", BENCHED / "steady", SHORT)
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert [each["verdict"] for each in document["benchmarks"]] == ["independent"] * 7
    assert document["sentence"] == "none of 7 benchmarks depends on the order"


@pytest.mark.parametrize(("options", "words", "complaint"), [
    ([], [], "no command is given"),
    ([], ["true"], "'true' uses no known benchmark framework: give a program of Google Benchmark, Catch2 or criterion"),
    ([], ["false"], "'false' ended with exit status 1"),
    ([], ["no-such-program"], "no-such-program"),
    (["--rounds", "2"], ["true"], "--rounds 2 is out of range"),
    (["--timeout", "0"], ["true"], "invalid --timeout 0"),
    (["--timeout", "0.3"], ["sh", "-c", "sleep 5"], "'sh' did not end within 0.3 s"),
])
def test_bad_input_is_refused(options, words, complaint):
    refused(zerotax("bench", *options, "--", *words), complaint)


def test_names_of_several_words_are_names_and_what_the_program_prints_is_none():
    done = zerotax("bench", "--json", "-", "--rounds", "9", "--", BENCHED / "names", "--benchmark_min_time=0.001",
                   "--benchmark_filter=pair|read")
    assert done.returncode in (0, 1), done.stderr
    assert [each["name"] for each in json.loads(done.stdout)["benchmarks"]] == [
        "pair<int, 3>", 'read "a file", twice', "read", "read char[3]{}"]


def test_a_filter_that_chooses_nothing_is_refused():
    refused(zerotax("bench", "--", BENCHED / "order", "--benchmark_filter=Nothing"), "lists no benchmark")


def test_compare_reads_two_files(found, tmp_path):
    document = found[1]
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(document))
    benchmark(document, "BM_Plain")["alone"]["counts"]["minor_faults"] += 512
    new.write_text(json.dumps(document))
    same = zerotax("compare", "--full", old, old)
    assert (same.returncode, same.stdout.splitlines()[0]) == (0, "same: counts of 6 benchmark runs agree"), same.stderr
    worse = zerotax("compare", old, new, "--json", tmp_path / "found.json", "--junit", tmp_path / "junit.xml")
    sentence = "worse: BM_Plain, alone: page faults 0 → 512; 1 of 6 benchmark runs differs"
    assert worse.returncode == 1 and " ".join(worse.stdout.split()).startswith(sentence), worse.stdout + worse.stderr
    result = json.loads((tmp_path / "found.json").read_text())
    check_schema(result, "bench_compare")
    assert result["sentence"] == sentence and [each["verdict"] for each in result["benchmarks"]] == ["worse"] + ["same"] * 5
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()
    better = zerotax("compare", new, old)
    assert better.returncode == 0 and better.stdout.startswith("better: BM_Plain, alone: page faults 512 → 0")
    benchmark(document, "BM_Plain")["alone"]["counts"] = {"minor_faults": "many"}
    new.write_text(json.dumps(document))
    refused(zerotax("compare", old, new), "is damaged")
    refused(zerotax("compare", old, SOURCE / "results" / "reference" / "run.json"), "not 'zerotax.bench/1'")
    refused(zerotax("compare", old, old, "--plot"), "--plot has no effect on files of zerotax bench")


def test_the_library_of_marks_changes_nothing_by_itself():
    library = BUILD / "lib" / "libzerotax-marks.so"
    done = subprocess.run(["date", "+%Y"], env={"LD_PRELOAD": str(library)}, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("20") and done.stderr == ""
