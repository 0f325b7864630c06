"""`zerotax record --pprof`: the sites of a recording as other programs read them, compared with the recording's JSON.
"""

import calendar
import collections
import re
import shutil
import subprocess
import time

import pytest
from conftest import ZEROTAX, clean_environment, is_na, zerotax
from outside import Attached, Outcome, build, open_folder, root_only, start_record
from pprof import Profile
from recording import record

KINDS = {"calloc": "calloc", "realloc": "realloc", "malloc": "malloc", "by_hand": "by hand", "by_program": "memset",
         "free": "free", "purge": "purge", "program": "program", "fault": "fault"}


def label(frame):
    """Returns the name shown to users. Code without symbols is named after the exported function before it."""
    if not is_na(frame["function"]):
        return frame["function"]
    return f"after {frame['after']}" if "after" in frame else f"{frame['address']:#x}"


def stack(site):
    return tuple((label(frame),
                  "" if is_na(frame["file"]) else frame["file"], 0 if is_na(frame["line"]) else frame["line"],
                  "" if is_na(frame["module"]) else frame["module"]) for frame in site["frames"])


def expected(report, values):
    """Returns, for each stack and kind, the sums of these values over its sites."""
    sums = collections.Counter()
    for site in report["sites"]:
        for name, value in values(site).items():
            sums[stack(site), KINDS[site["kind"]], name] += value
    if elsewhere := report["kernel_zeroed_elsewhere_bytes"]:
        sums[(("(not attributed)", "", 0, ""),), "", "kernel_zeroed"] += elsewhere
    return +sums


def check_profile(path, report, types, values):
    profile = Profile(path)
    assert [name for name, _ in profile.types] == types
    assert all(unit == ("nanoseconds" if name in ("time", "cpu") else "bytes") for name, unit in profile.types)
    found = collections.Counter()
    for frames, numbers, kind in profile.samples:
        for name, value in numbers.items():
            found[tuple(frames), kind, name] += value
    assert +found == expected(report, values)
    started = calendar.timegm(time.strptime(report["started"], "%Y-%m-%dT%H:%M:%SZ"))
    assert (profile.time_ns, profile.duration_ns) == (started * 10**9, report["run"]["wall_ns"])
    return profile


def inside_values(site):
    sampled = site["sampled"]
    return {"kernel_zeroed": site["kernel_zeroed_bytes"] + sampled["kernel_zeroed_bytes"], "refilled": site["refilled_bytes"],
            "zeroed": site["zeroed_bytes"] + sampled["zeroed_bytes"],
            "redundant": site["redundant_zeroed_bytes"] + sampled["redundant_zeroed_bytes"],
            "returned": site["returned_bytes"], "time": site["zero_ns"]}


def outside_values(site):
    sampled = site["sampled"]
    return {"kernel_zeroed": sampled["kernel_zeroed_bytes"], "refilled": site["refilled_bytes"],
            "returned_at_most": sampled.get("returned_at_most_bytes", 0), "cpu": sampled.get("zero_cpu_ns", 0)}


INSIDE = ["kernel_zeroed", "refilled", "zeroed", "redundant", "returned", "time"]
OUTSIDE = ["kernel_zeroed", "refilled", "returned_at_most", "cpu"]


def tool_says(path, name, folder):
    """Returns the data that `go tool pprof -raw` reads: the types, and the sum of one type."""
    if shutil.which("go") is None:
        pytest.skip("go is missing: run ./run install")
    done = subprocess.run(["go", "tool", "pprof", "-raw", str(path)], capture_output=True, text=True, timeout=120, check=True,
                          env=clean_environment(HOME=str(folder), GOCACHE=str(folder / "cache")))
    samples = done.stdout.split("Samples:\n")[1].split("Locations")[0].splitlines()
    types = [word.split("/")[0] for word in samples[0].replace("[dflt]", "").split()]
    rows = [list(map(int, match.group(1).split())) for line in samples[1:] if (match := re.match(r"\s*([-\d ]+):", line))]
    return types, sum(row[types.index(name)] for row in rows)


def test_a_program_with_the_library_in_it(tmp_path):
    found = record("python3", "-c", "for _ in range(50): bytearray(10**7)", options=["--pprof", tmp_path / "p"])
    profile = check_profile(tmp_path / "p", found.json, INSIDE, inside_values)
    assert profile.total("kernel_zeroed") >= 10**7 and profile.first_type == "redundant"
    assert profile.comments[1].startswith("python3 -c for")
    types, total = tool_says(tmp_path / "p", "kernel_zeroed", tmp_path)
    assert (types, total) == (INSIDE, profile.total("kernel_zeroed"))


@root_only
def test_a_program_from_outside(tmp_path):
    static = build(tmp_path, "gcc", "-static", "-g", "-O1", "-fno-builtin")
    found = record(static, "map", 400, options=["--pprof", tmp_path / "p", "--weight", "refilled"])
    profile = check_profile(tmp_path / "p", found.json, OUTSIDE, outside_values)
    assert profile.first_type == "refilled"
    assert any(frames[0][0] == "refill_here" and frames[0][1].endswith("refills.c") and frames[0][2] > 0
               for frames, _, _ in profile.samples)
    assert tool_says(tmp_path / "p", "refilled", tmp_path) == (OUTSIDE, profile.total("refilled"))


def test_what_is_not_known_is_no_type(tmp_path):
    with open_folder() as folder, Attached(build(folder, "gcc", "-static", "-g"), "map", 400) as target:
        started = start_record(folder, target.run.pid, "--seconds", 2, "--pprof", folder / "p")
        target.go_on()
        found = Outcome(folder, started)
        names = [name for name, _ in Profile(folder / "p").types]
    assert ("returned_at_most" in names) == (found.json["outside"]["why_no_returns"] == "")
    assert not {"zeroed", "redundant", "time"} & set(names)


def test_it_is_an_output_like_others(tmp_path):
    done = zerotax("record", "--pprof", tmp_path / "a", "--json", tmp_path / "a", "--", "true")
    assert done.returncode == 2 and "both write" in done.stderr
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([ZEROTAX, "record", "--text", tmp_path / "t", "--pprof", "-", "--", "true"], stdout=out, check=True,
                       env=clean_environment())
    assert [name for name, _ in Profile(tmp_path / "out").types] == INSIDE
