"""zerotax reads a file completely or refuses it, whatever its contents: status 2, one line, nothing measured or
changed.
"""

import functools
import json
import pathlib
import shutil
import sys

import pytest
from conftest import BUILD, LONG_TOO, NOBODY, SOURCE, ZEROTAX, clean_environment, open_to_nobody, skip_if_unreadable, zerotax
from damages import ANY, BASELINES, FLEETS, FORKS, HOSTS, LINES, PLANS, POINTS, RECIPES, THRESHOLDS, TRACES, edited
from refusing import check_refusal, contents, try_all, try_line

REFERENCE = SOURCE / "results" / "reference"
BASELINE = SOURCE / "tests" / "regression" / "baselines" / "glibc-2.36.json"
PLOTS = SOURCE / "plots"
# Commands that can judge the results of an earlier version again.
JUDGED = ("thresholds", "fork", "snapshot", "cow")


def judged_cases():
    """Cases of files for commands that judge results again with --read."""
    rows = [(command, *row) for command in JUDGED for row in ANY.items()]
    rows += [("thresholds", *row) for row in THRESHOLDS.items()]
    rows += [("fork", *row) for row in FORKS.items()]
    return [(f"{command} --read: {damage}", f"{command}.json", spoil, [command, "--read", f"{command}.json"], word)
            for command, damage, (spoil, word) in rows]


def rows_of(damages, name, file, command):
    """Returns a case for each damage of a file that a command reads."""
    return [(f"{name}: {damage}", file, spoil, command, word) for damage, (spoil, word) in damages.items()]


def run_cases():
    """Cases of run.json as a file, which three command lines read."""
    damages = {**ANY, **POINTS}
    # A folder named run.json would be valid as a results folder, and a program of that name would be valid as an
    # allocator.
    compared = {damage: row for damage, row in damages.items() if damage not in ("a folder", "a program")}
    return [
        *rows_of({damage: row for damage, row in damages.items() if damage != "a folder"}, "findings", "run.json",
                 ["findings", "run.json"]),
        *rows_of({damage: row for damage, row in compared.items() if damage in ANY}, "compare, OLD", "run.json",
                 ["compare", "run.json", "good.json"]),
        *rows_of(compared, "compare, NEW", "run.json", ["compare", "good.json", "run.json"])]


def folder_cases():
    """Cases of files within a results folder."""
    findings, resume, study = ["findings", "results"], ["run", "--resume", "results"], ["study", "--resume", "results"]
    shard = ["shard", "results/fleet/points", "0"]
    names = {f"points_file {name!r}": (edited(lambda run, name=name: run.update(points_file=name)), "points_file")
             for name in ("../run.json", "/etc/passwd", "..", "sub/points.jsonl", "", 7)}
    return [
        *rows_of({**ANY, **names}, "findings of a folder, run.json", "results/run.json", findings),
        *rows_of({**ANY, **THRESHOLDS}, "findings of a folder, thresholds.json", "results/thresholds.json", findings),
        *rows_of(LINES, "findings of a folder, points.jsonl", "results/points.jsonl", findings),
        *rows_of(LINES, "findings of a folder, controls.jsonl", "results/controls.jsonl", findings),
        *rows_of(LINES, "compare, points.jsonl", "results/points.jsonl", ["compare", "good.json", "results"]),
        *rows_of({**ANY, **PLANS}, "run --resume, plan.json", "results/plan.json", resume),
        *rows_of(ANY, "run --resume, run.json", "results/run.json", resume),
        *rows_of(LINES, "run --resume, points.jsonl", "results/points.jsonl", resume),
        *rows_of({**ANY, **HOSTS}, "run --resume, a host", "results/fleet/hosts/n1.json", resume),
        *rows_of({**ANY, **THRESHOLDS}, "study --resume, thresholds.json", "results/thresholds.json", study),
        *rows_of(THRESHOLDS, "study --resume, refill_thresholds.json", "results/refill_thresholds.json", study),
        *rows_of({**ANY, **FLEETS}, "shard, fleet.json", "results/fleet/points/fleet.json", shard)]


def trace_cases():
    actions = {action: [action, "trace"] for action in ("list", "print", "summary", "functions", "repair")}
    actions["functions --diff"] = ["functions", "--diff", "trace", "trace"]
    return [(f"trace {action}: {damage}", f"trace/{file}", spoil, ["trace", *words], "trace")
            for damage, (file, spoil) in TRACES.items() for action, words in actions.items()]


def cases():
    """All cases. Each case is (name, file, damage, command, word that the refusal must contain)."""
    # The damage `a folder` is left out, because check accepts a folder of baselines.
    baselines = {damage: row for damage, row in ANY.items() if damage != "a folder"}
    return [
        *run_cases(), *folder_cases(), *trace_cases(), *judged_cases(),
        *rows_of({**baselines, **BASELINES}, "check", "baseline.json",
                 ["check", "--allocator", "glibc", "--baseline", "baseline.json"]),
        *rows_of({**ANY, **RECIPES}, "history", "recipe.json", ["history", "--repo", ".", "--recipe", "recipe.json"])]


CASES = cases()
# Each case starts a process, so ./run test tries one case of four.
TRIED = range(0, len(CASES), 1 if LONG_TOO else 4)


def watched():
    """The document that zerotax cow writes for a program without a fault."""
    counts = dict.fromkeys(("copies", "reuses", "zero_fills", "file_faults", "other", "kernel", "copied_bytes",
                            "zeroed_bytes", "copy_ns"), 0)
    environment = json.loads((REFERENCE / "fork.json").read_text())["environment"]
    return {
        "schema": "zerotax.cow/1", "zerotax_version": "0.1.0", "started": "2026-11-20T10:00:00Z", "environment": environment,
        "command": ["true"], "pid": 10, "exit_status": 0, "method": "software", "counted": "all", "interval_s": 1,
        "wall_s": 0.1, "buffer_bytes": 4096, "faults_file": None, "totals": {**counts, "lost": 0}, "processes": [],
        "intervals": [], "code": []}


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """A folder with one file of each kind: run.json and its copy good.json, results/, baseline.json, recipe.json,
    trace/, and a file for each command in JUDGED.
    """
    folder = tmp_path_factory.mktemp("valid")
    quick = ["run", "--allocator", "glibc", "--size", "64KiB", "--size", "128KiB", "--ops", 2]
    for output in (["--out", "results"], ["--json", "run.json"]):
        done = zerotax(*quick, *output, cwd=folder)
        assert done.returncode == 0, done.stderr
    shutil.copy(folder / "run.json", folder / "good.json")
    shutil.copy(BASELINE, folder / "baseline.json")
    shutil.copy(SOURCE / "allocators" / "mimalloc" / "recipe.json", folder / "recipe.json")
    for file in ("thresholds.json", "refill_thresholds.json"):
        shutil.copy(REFERENCE / "thresholds.json", folder / "results" / file)
    (folder / "results" / "fleet" / "points").mkdir(parents=True)
    (folder / "results" / "fleet" / "hosts").mkdir()
    (folder / "results" / "fleet" / "points" / "fleet.json").write_text(json.dumps({
        "schema": "zerotax.fleet/1", "kind": "points", "token": "0123456789abcdef", "timed": True,
        "shards": [["glibc/calloc_loop/65536/0/main"]], "work": {"plan": "plan.json"}}))
    (folder / "results" / "fleet" / "hosts" / "n1.json").write_text(json.dumps({
        "schema": "zerotax.host/1", "environment": json.loads((folder / "run.json").read_text())["environment"]}))
    shutil.copy(folder / "results" / "points.jsonl", folder / "results" / "controls.jsonl")
    for name in JUDGED[:-1]:
        shutil.copy(REFERENCE / f"{name}.json", folder / f"{name}.json")
    (folder / "cow.json").write_text(json.dumps(watched()))
    environment = clean_environment(ZEROTAX_TRACE_DIR=str(folder / "traces"))
    try_line([BUILD / "tests" / "traced" / "threads", "2", "100"], folder, environment)
    process, = (folder / "traces").iterdir()
    shutil.copytree(process, folder / "trace")
    shutil.rmtree(folder / "traces")
    return folder


@pytest.mark.parametrize("words", [
    ["findings", "run.json"], ["findings", "results"], ["compare", "run.json", "good.json"], ["compare", "run.json", "results"],
    ["run", "--resume", "results"], ["shard", "results/fleet/points", "0"],
    ["trace", "list", "trace"], ["trace", "repair", "trace"],
    *([name, "--read", f"{name}.json"] for name in JUDGED)], ids=" ".join)
def test_what_is_not_damaged_is_read(valid, tmp_path, words):
    shutil.copytree(valid, tmp_path / "copy")
    done = zerotax(*words, cwd=tmp_path / "copy")
    assert done.returncode in (0, 1, 3) and "damaged" not in done.stderr, done.stderr


@pytest.mark.parametrize("file", sorted(BASELINE.parent.glob("*.json")) + [REFERENCE], ids=lambda path: path.name)
def test_what_is_committed_is_read(tmp_path, file):
    if file.is_dir():
        assert zerotax("findings", file).returncode == 1
        return
    # The baseline's allocator does not exist, so the refusal shows that the file is checked first.
    changed = edited(lambda baseline: baseline["points"][0].update(home=3))
    shutil.copy(file, tmp_path / "changed.json")
    changed(tmp_path / "changed.json")
    done = zerotax("check", "--allocator", "glibc", "--baseline", tmp_path / "changed.json")
    assert "/points/0/home" in done.stderr, "nothing before it was refused"


def test_a_key_that_a_later_version_wrote_is_passed_over(valid, tmp_path):
    shutil.copy(valid / "run.json", tmp_path)

    def extend(run):
        run["later"] = {"x": 1}
        run["points"][0]["later"] = run["points"][0]["first_ops"][0]["later"] = run["environment"]["later"] = 1

    edited(extend)(tmp_path / "run.json")
    assert zerotax("findings", tmp_path / "run.json").returncode in (0, 1)


@pytest.fixture(scope="module")
def refusals(valid, tmp_path_factory):
    """The result of each case, and what changed in its folder."""
    folder = tmp_path_factory.mktemp("damaged")

    def attempt(number):
        _, file, spoil, command, _ = CASES[number]
        place = folder / str(number)
        top = file.split("/")[0]
        place.mkdir()
        for name in {top, "good.json"}:
            copy = shutil.copytree if (valid / name).is_dir() else shutil.copy
            copy(valid / name, place / name)
        if file.startswith("trace/stream"):
            file = next((place / "trace").glob("stream-*")).relative_to(place)
            for other in (place / "trace").glob("stream-*"):
                if other != place / file:
                    other.unlink()
        spoil(place / file)
        before = contents(place)
        result = try_line([ZEROTAX, *command], place)
        changed = set(contents(place).items()) ^ set(before.items())
        shutil.rmtree(place)
        return (*result[:3], changed, result[3])

    return try_all([functools.partial(attempt, number) for number in TRIED])


@pytest.mark.parametrize("number", TRIED, ids=[f"{i}: {CASES[i][0]}" for i in TRIED])
def test_a_damaged_file_is_refused_in_one_line_and_left_as_it_is(refusals, number):
    status, output, errors, changed, seconds = refusals[TRIED.index(number)]
    line = check_refusal((status, output, errors, seconds))
    assert not changed
    file = CASES[number][1].split("/")[-1]
    assert (file if file != "stream-0" else "stream-") in line or "results" in line, line
    assert CASES[number][4] in line, line


def test_the_damage_is_of_many_kinds():
    assert len({case[0] for case in CASES}) == len(CASES) >= 100


def test_a_file_without_permission_is_refused(valid, tmp_path):
    skip_if_unreadable()
    open_to_nobody(tmp_path, 0o755)
    shutil.copy(valid / "run.json", tmp_path)
    (tmp_path / "run.json").chmod(0)
    for words in (["findings", "run.json"], ["check", "--allocator", "glibc", "--baseline", "run.json"]):
        assert "Permission denied" in check_refusal(try_line([*NOBODY, ZEROTAX, *words], tmp_path))


SCRIPTS = {"all_figures.py": ["--out", "figures"], "write_page.py": ["--out", "page.html"], "validate.py": []}


SCRIPT_DAMAGE = ("empty", "a NUL byte within", "a key twice", "100,000 brackets", "NaN", "a list", "a pipe", "a device",
                 "a gigabyte")
# All scripts read files with the same function (plots/zerotax_plots/files.py). The tests pass all damage to
# validate.py, because that script starts without matplotlib.
SHORT_DAMAGE = {"all_figures.py": ("a NUL byte within", "a device"), "write_page.py": ("empty", "a pipe")}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_refuses_a_damaged_run_in_one_line(valid, tmp_path, script):
    def attempt(damage):
        folder = tmp_path / damage
        shutil.copytree(valid / "results", folder / "results")
        ANY[damage][0](folder / "results" / "run.json")
        before = contents(folder)
        result = try_line([sys.executable, PLOTS / script, "results", *SCRIPTS[script]], folder)
        assert contents(folder) == before
        return result

    damages = SCRIPT_DAMAGE if LONG_TOO else SHORT_DAMAGE.get(script, SCRIPT_DAMAGE)
    results = try_all([functools.partial(attempt, damage) for damage in damages])
    for damage, (status, output, errors, _) in zip(damages, results):
        said = (output + errors).splitlines()
        assert (status, len(said)) == (2, 1) and len(said[0]) < 500, (damage, said)
        assert "run.json" in said[0] and "Traceback" not in said[0], (damage, said)


def test_every_reader_of_a_file_is_tried():
    """The table has every command that reads a file. A new command must be added to the table."""
    assert {case[3][0] for case in CASES} == {
        "findings", "compare", "check", "history", "run", "shard", "study", "trace", *JUDGED}
    assert pathlib.Path(ZEROTAX).exists()
