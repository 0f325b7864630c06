"""Whatever a file holds that zerotax reads, it is used whole or refused: status 2, one line, nothing measured or changed."""

import functools
import json
import os
import pathlib
import shutil
import sys

import pytest
from conftest import BUILD, NOBODY, SOURCE, ZEROTAX, clean_environment, skip_if_unreadable, zerotax
from refusing import check_refusal, contents, try_all, try_line

REFERENCE = SOURCE / "results" / "reference"
BASELINE = SOURCE / "tests" / "regression" / "baselines" / "glibc-2.36.json"
PLOTS = SOURCE / "plots"


def text(new):
    return lambda path: path.write_bytes(new if isinstance(new, bytes) else new.encode())


def replaced(change):
    """Damage of a file's bytes."""
    return lambda path: path.write_bytes(change(path.read_bytes()))


def edited(change):
    """Damage of a JSON document: `change` edits it, or returns another."""
    def spoil(path):
        document = json.loads(path.read_text())
        path.write_text(json.dumps(change(document) or document))
    return spoil


def instead(make):
    """Something else of the file's name."""
    def spoil(path):
        path.unlink()
        make(path)
    return spoil


def huge(path):
    with open(path, "wb") as file:
        file.truncate((1 << 30) + 1)  # takes no room


# Damage that any file of JSON may have, and a word that its refusal must have.
ANY = {
    "empty": (text(""), "empty"),
    "blank": (text(" \n"), "not JSON"),
    "cut in half": (replaced(lambda old: old[:len(old) // 2]), "not JSON"),
    "one byte cut": (replaced(lambda old: old.rstrip()[:-1]), "not JSON"),
    "a NUL byte behind": (replaced(lambda old: old + b"\0"), "NUL"),
    "a NUL byte within": (replaced(lambda old: old[:100] + b"\0" + old[100:]), "NUL"),
    "zeros alone": (text(bytes(4096)), "NUL"),
    "a byte order mark": (replaced(lambda old: b"\xef\xbb\xbf" + old), "byte order mark"),
    "UTF-16": (replaced(lambda old: old.decode().encode("utf-16")), "not JSON"),
    "no UTF-8": (replaced(lambda old: old.replace(b'"schema"', b'"\xff\xfe": 1, "schema"', 1)), "UTF-8"),
    "a key twice": (replaced(lambda old: old.replace(b'"schema"', b'"schema": 1, "schema"', 1)), "twice"),
    "words behind": (replaced(lambda old: old + b"{}"), "not JSON"),
    "a comment": (replaced(lambda old: b"/* mine */" + old), "not JSON"),
    "100,000 brackets": (text("[" * 100_000), "nested"),
    "100,000 objects": (text('{"a":' * 100_000), "nested"),
    "100,000 brackets within": (
        replaced(lambda old: old.replace(b'"schema"', b'"x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "schema"', 1)), "nested"),
    "NaN": (replaced(lambda old: old.replace(b'"schema"', b'"x": NaN, "schema"', 1)), "not JSON"),
    "Infinity": (replaced(lambda old: old.replace(b'"schema"', b'"x": -Infinity, "schema"', 1)), "not JSON"),
    "a number of 400 digits": (replaced(lambda old: old.replace(b'"schema"', b'"x": 1e400, "schema"', 1)), "overflow"),
    "a text of a million letters": (
        edited(lambda document: document.update(zerotax_version="x" * 1_000_000)), "16 KiB"),
    "a key of a million letters": (edited(lambda document: document.update({"x" * 1_000_000: 1})), "16 KiB"),
    "a list": (text("[]"), "schema"),
    "null": (text("null"), "schema"),
    "a number": (text("7"), "schema"),
    "an empty object": (text("{}"), "schema"),
    "a later schema": (edited(lambda document: document.update(schema=document["schema"][:-1] + "2")), "schema"),
    "a schema that is a number": (edited(lambda document: document.update(schema=1)), "schema"),
    "a file of another kind": (edited(lambda document: document.update(schema="zerotax.clients/1")), "zerotax.clients/1"),
    "the schema alone": (edited(lambda document: {"schema": document["schema"]}), "lacks"),
    "a program": (instead(lambda path: shutil.copy("/bin/true", path)), "not JSON"),
    "a pipe": (instead(os.mkfifo), "pipe"),
    "a folder": (instead(os.mkdir), "folder"),
    "a device": (instead(lambda path: path.symlink_to("/dev/zero")), "device"),
    "a link to itself": (instead(lambda path: path.symlink_to(path.name)), "symbolic links"),
    "a link to nothing": (instead(lambda path: path.symlink_to("nothing")), "cannot read"),
    "a gigabyte": (huge, "1 GiB"),
}


def of_point(change):
    """Damage of the second point of a run."""
    return edited(lambda run: change(run["points"][1]))


def set_point(**figures):
    return of_point(lambda point: point.update(figures))


# Damage of the points of a run, with the place that its refusal names.
POINTS = {
    "a word for a time": (set_point(calloc_ns="x"), "/points/1/calloc_ns"),
    "a word in a time": (of_point(lambda point: point["calloc_ns"].update(median="x")), "/points/1/calloc_ns/median"),
    "a time below 0": (of_point(lambda point: point["calloc_ns"].update(p05=-1)), "/points/1/calloc_ns/p05"),
    "a time of 1e308 ns": (of_point(lambda point: point["free_ns"].update(p95=1e308)), "/points/1/free_ns/p95"),
    "percentiles that descend": (
        of_point(lambda point: point["calloc_ns"].update(p05=9e9, median=8e9, p95=7e9)), "do not ascend"),
    "1e308 bytes": (set_point(zeroed_bytes=1e308), "/points/1/zeroed_bytes"),
    "9223372036854775807 bytes": (set_point(zeroed_bytes=2**63 - 1), "/points/1/zeroed_bytes"),
    "18446744073709551615 bytes": (set_point(zeroed_bytes=2**64 - 1), "/points/1/zeroed_bytes"),
    "18446744073709551616 bytes": (set_point(zeroed_bytes=2**64), "/points/1/zeroed_bytes"),
    "-7 bytes": (set_point(zeroed_bytes=-7), "/points/1/zeroed_bytes"),
    "half a byte": (set_point(zeroed_bytes=0.5), "/points/1/zeroed_bytes"),
    "a word for bytes": (set_point(zeroed_bytes="0"), "/points/1/zeroed_bytes"),
    "null bytes": (set_point(zeroed_bytes=None), "/points/1/zeroed_bytes"),
    "true bytes": (set_point(zeroed_bytes=True), "/points/1/zeroed_bytes"),
    "a list of bytes": (set_point(zeroed_bytes=[0]), "/points/1/zeroed_bytes"),
    "n/a without a reason": (set_point(zeroed_bytes={"na": ""}), "/points/1/zeroed_bytes/na"),
    "n/a with a number": (set_point(zeroed_bytes={"na": 1}), "/points/1/zeroed_bytes/na"),
    "more redundant than zeroed": (set_point(zeroed_bytes=0, redundant_zeroed_bytes=4096), "redundant_zeroed_bytes"),
    "touch 7": (set_point(touch=7), "/points/1/touch"),
    "touch -1": (set_point(touch=-1), "/points/1/touch"),
    "a word for touch": (set_point(touch="all"), "/points/1/touch"),
    "a size of 0": (set_point(size_bytes=0), "/points/1/size_bytes"),
    "a size below 0": (set_point(size_bytes=-4096), "/points/1/size_bytes"),
    "a size of 2^62": (set_point(size_bytes=2**62), "/points/1/size_bytes"),
    "a size that is a word": (set_point(size_bytes="64KiB"), "/points/1/size_bytes"),
    "an unknown thread": (set_point(thread="other"), "/points/1/thread"),
    "an unknown status": (set_point(status="fine"), "/points/1"),
    "no name": (set_point(allocator=""), "/points/1/allocator"),
    "a name that is a number": (set_point(allocator=3), "/points/1/allocator"),
    "an environment that is a list": (set_point(env=[]), "/points/1/env"),
    "a variable that is a number": (set_point(env={"A": 1}), "/points/1/env/A"),
    "faults below 0": (set_point(calloc_faults=-1), "/points/1/calloc_faults"),
    "1e308 system calls": (set_point(free_syscalls={"munmap": 1e308}), "/points/1/free_syscalls/munmap"),
    "system calls that are a word": (set_point(calloc_syscalls="mmap"), "/points/1/calloc_syscalls"),
    "early operations that are none": (set_point(first_ops=[1]), "/points/1/first_ops/0"),
    "early operations that are an object": (set_point(first_ops={}), "/points/1/first_ops"),
    "an early operation of -7 bytes": (
        of_point(lambda point: point["first_ops"][0].update(zeroed_bytes=-7)), "/points/1/first_ops/0/zeroed_bytes"),
    "an early operation that lacks a figure": (
        of_point(lambda point: point["first_ops"][0].pop("calloc_syscalls") and None), "/points/1/first_ops/0"),
    "a point that is a number": (edited(lambda run: run["points"].append(7)), "/points/2"),
    "a point that is null": (edited(lambda run: run["points"].append(None)), "/points/2"),
    "a point twice": (edited(lambda run: run["points"].append(run["points"][0])), "twice"),
    "no points": (edited(lambda run: run.update(points=[])), "no points"),
    "points that are an object": (edited(lambda run: run.update(points={})), "/points"),
    **{f"no {key}": (of_point(lambda point, key=key: point.pop(key) and None), key) for key in (
        "allocator", "case", "size_bytes", "touch", "thread", "status", "version", "env", "calloc_ns", "zeroed_bytes",
        "redundant_zeroed_bytes", "calloc_faults", "calloc_syscalls", "syscalls", "violations")},
    "no environment": (edited(lambda run: run.pop("environment") and None), "environment"),
    "an environment that is a word": (edited(lambda run: run.update(environment="here")), "/environment"),
    "a load that is a word": (
        edited(lambda run: run["environment"].update(load_average=["x", 0, 0])), "/environment/load_average"),
    "no CPUs": (edited(lambda run: run["environment"].update(cpus=0)), "/environment/cpus"),
}

# Of one line of points.jsonl.
LINES = {
    "a line that is no JSON": (replaced(lambda old: b"{]\n" + old), "line 1"),
    "an empty line": (replaced(lambda old: b"\n" + old), "line 1"),
    "a line of another schema": (replaced(lambda old: old + b'{"schema": "zerotax.run/1"}\n'), "line 3"),
    "a line cut in the middle": (replaced(lambda old: old[:200] + old[old.index(b"\n"):]), "line 1"),
    "a line twice": (replaced(lambda old: old + old[:old.index(b"\n") + 1]), "twice"),
    "touch 7 in a line": (replaced(lambda old: old.replace(b'"touch":0.0', b'"touch":7', 1)), "/touch"),
    "a NUL byte in a line": (replaced(lambda old: old[:50] + b"\0" + old[50:]), "NUL"),
    "zeros for a line": (replaced(lambda old: old + bytes(512) + b"\n"), "NUL"),
    "brackets in a line": (replaced(lambda old: b"[" * 100_000 + b"\n" + old), "nested"),
    **{name: ANY[name] for name in ("a pipe", "a folder", "a device", "a link to itself", "a gigabyte")},
}

# Of the plan that --resume goes on with.
PLANS = {
    "a time limit that is a word": (edited(lambda plan: plan.update(timeout_s="soon")), "/timeout_s"),
    "no time limit": (edited(lambda plan: plan.update(timeout_s=0)), "/timeout_s"),
    "100,000,000 operations": (
        edited(lambda plan: plan["points"][0]["repeats"].update(ops=10**8)), "ops"),
    "touch 7 in the plan": (edited(lambda plan: plan["points"][0].update(touch=7)), "/points/0/touch"),
    "no allocators": (edited(lambda plan: plan.update(allocators=[])), "/allocators"),
    "an allocator that is a word": (edited(lambda plan: plan.update(allocators=["glibc"])), "/allocators/0"),
}

BASELINES = {
    "-7 bytes": (edited(lambda base: base["points"][2].update(zeroed_bytes=-7)), "/points/2/zeroed_bytes"),
    "a word for bytes": (edited(lambda base: base["points"][0].update(populated_bytes="x")), "/points/0/populated_bytes"),
    "touch 7": (edited(lambda base: base["points"][0].update(touch=7)), "/points/0/touch"),
    "no points": (edited(lambda base: base.update(points=[])), "/points"),
    "points that are an object": (edited(lambda base: base.update(points={})), "/points"),
    "a point that lacks a figure": (edited(lambda base: base["points"][0].pop("home") and None), "home"),
    "a point twice": (edited(lambda base: base["points"].append(base["points"][0])), "twice"),
    "a threshold that is a word": (edited(lambda base: base.update(thresholds=["x"])), "/thresholds/0"),
    "a threshold at a word": (
        edited(lambda base: base.update(thresholds=[{"at_bytes": "x", "changes": []}])), "/thresholds/0"),
    "early operations that are a word": (edited(lambda base: base["points"][0].update(first_ops="x")), "/points/0/first_ops"),
}

THRESHOLDS = {
    "a threshold below 0": (edited(lambda found: found["thresholds"][0].update(at_bytes=-1)), "/thresholds/0/at_bytes"),
    "a lane that is a word": (edited(lambda found: found["lanes"].append("x")), "/lanes"),
    "no lanes": (edited(lambda found: found.pop("lanes") and None), "lanes"),
    "changes that are a word": (edited(lambda found: found["thresholds"][0].update(changes="x")), "/thresholds/0/changes"),
}

# Whose files of an earlier version are judged again.
JUDGED = ("thresholds", "fork", "snapshot", "cow")

TRACES = {
    "empty metadata": ("metadata", text("")),
    "cut metadata": ("metadata", replaced(lambda old: old[:200])),
    "metadata of another": ("metadata", text("/* CTF 1.8 */\ntrace { major = 1; };\n")),
    "metadata of noise": ("metadata", text(bytes(range(256)) * 40)),
    "metadata of one line of a million": ("metadata", replaced(lambda old: old + b"x" * 1_000_000)),
    "no number of the trace": ("metadata", replaced(lambda old: old.replace(b"uuid = \"", b"uuid = \"xyz"))),
    "no clock": ("metadata", replaced(lambda old: old.replace(b"freq = ", b"frequency = "))),
    "metadata that are a pipe": ("metadata", instead(os.mkfifo)),
    "metadata that are a folder": ("metadata", instead(os.mkdir)),
    "metadata that are a device": ("metadata", instead(lambda path: path.symlink_to("/dev/zero"))),
    "a stream of noise": ("stream-0", text(bytes(range(256)) * 40)),
    "a stream that is a pipe": ("stream-0", instead(os.mkfifo)),
    "a stream that is a folder": ("stream-0", instead(os.mkdir)),
}


def judged_cases():
    """The same of what --read judges again."""
    rows = [(command, *row) for command in JUDGED for row in ANY.items()]
    rows += [("thresholds", *row) for row in THRESHOLDS.items()]
    return [(f"{command} --read: {damage}", f"{command}.json", spoil, [command, "--read", f"{command}.json"], word)
            for command, damage, (spoil, word) in rows]


# Damage of a recipe.
RECIPES = {
    "no command": (edited(lambda recipe: recipe.update(build=[])), "/build"),
    "a command of no words": (edited(lambda recipe: recipe.update(build=[[]])), "/build/0"),
    "a command that is a number": (edited(lambda recipe: recipe.update(build=[7])), "/build/0"),
    "commands that are a text": (edited(lambda recipe: recipe.update(build="make")), "/build"),
    "no library": (edited(lambda recipe: recipe.pop("library") and None), "library"),
    "a library that is a text": (edited(lambda recipe: recipe.update(library="x.so")), "/library"),
    "a name with a slash": (edited(lambda recipe: recipe.update(allocator="a/b")), "/allocator"),
    "a tool without a package": (edited(lambda recipe: recipe.update(tools=[{"program": "make"}])), "/tools/0"),
}


# Of what a host of a fleet has entered of itself.
HOSTS = {
    "no environment of a host": (edited(lambda host: host.pop("environment") and None), "environment"),
    "a kernel that is a number": (edited(lambda host: host["environment"].update(kernel=6)), "/environment/kernel"),
}

# Of what the tasks of a job read.
FLEETS = {
    "an unknown kind": (edited(lambda fleet: fleet.update(kind="mine")), "unknown kind 'mine'"),
    "no shards": (edited(lambda fleet: fleet.update(shards=[])), "no shard 0"),
    "a shard of nothing": (edited(lambda fleet: fleet.update(shards=[[]])), "/shards/0"),
    "a shard that is a word": (edited(lambda fleet: fleet.update(shards=["x"])), "/shards/0"),
    "lanes without axes": (edited(lambda fleet: fleet.update(kind="lanes")), "damaged"),
    "versions without a repository": (edited(lambda fleet: fleet.update(kind="versions")), "damaged"),
    "a token that is a path": (edited(lambda fleet: fleet.update(token="../x")), "/token"),
}


def rows_of(damages, name, file, command):
    """A row for each damage of a file that a command reads."""
    return [(f"{name}: {damage}", file, spoil, command, word) for damage, (spoil, word) in damages.items()]


def run_cases():
    """Of run.json as a file, which three commands read."""
    damages = {**ANY, **POINTS}
    # A folder of that name would be one of results, and a program an allocator.
    compared = {damage: row for damage, row in damages.items() if damage not in ("a folder", "a program")}
    return [
        *rows_of({damage: row for damage, row in damages.items() if damage != "a folder"}, "findings", "run.json",
                 ["findings", "run.json"]),
        *rows_of({damage: row for damage, row in compared.items() if damage in ANY}, "compare, OLD", "run.json",
                 ["compare", "run.json", "good.json"]),
        *rows_of(compared, "compare, NEW", "run.json", ["compare", "good.json", "run.json"])]


def folder_cases():
    """Of the files of a results folder."""
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
    """(what is damaged how, the file, the damage, the command, a word that its refusal must have)."""
    baselines = {damage: row for damage, row in ANY.items() if damage != "a folder"}  # one of baselines
    return [
        *run_cases(), *folder_cases(), *trace_cases(), *judged_cases(),
        *rows_of({**baselines, **BASELINES}, "check", "baseline.json",
                 ["check", "--allocator", "glibc", "--baseline", "baseline.json"]),
        *rows_of({**ANY, **RECIPES}, "history", "recipe.json", ["history", "--repo", ".", "--recipe", "recipe.json"])]


CASES = cases()


def watched():
    """What zerotax cow writes of a program without a fault."""
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
    """A folder of one of each: run.json (good.json is the same), results/, baseline.json, recipe.json, trace/, all JUDGED."""
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
    # Of an allocator that is never there: what is asked first is whether the baseline can be used.
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
    """Of each case: what became of it, and what of its folder was changed."""
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

    return try_all([functools.partial(attempt, number) for number in range(len(CASES))])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{i}: {case[0]}" for i, case in enumerate(CASES)])
def test_a_damaged_file_is_refused_in_one_line_and_left_as_it_is(refusals, number):
    status, output, errors, changed, seconds = refusals[number]
    line = check_refusal((status, output, errors, seconds))
    assert not changed
    file = CASES[number][1].split("/")[-1]
    assert (file if file != "stream-0" else "stream-") in line or "results" in line, line
    assert CASES[number][4] in line, line


def test_the_damage_is_of_many_kinds():
    assert len({case[0] for case in CASES}) == len(CASES) >= 100


def test_a_file_without_permission_is_refused(valid, tmp_path):
    skip_if_unreadable()
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    shutil.copy(valid / "run.json", tmp_path)
    (tmp_path / "run.json").chmod(0)
    for words in (["findings", "run.json"], ["check", "--allocator", "glibc", "--baseline", "run.json"]):
        assert "Permission denied" in check_refusal(try_line([*NOBODY, ZEROTAX, *words], tmp_path))


SCRIPTS = {"all_figures.py": ["--out", "figures"], "page/write_page.py": ["--out", "page.html"], "validate.py": []}


SCRIPT_DAMAGE = ("empty", "a NUL byte within", "a key twice", "100,000 brackets", "NaN", "a list", "a pipe", "a device",
                 "a gigabyte")


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

    results = try_all([functools.partial(attempt, damage) for damage in SCRIPT_DAMAGE])
    for damage, (status, output, errors, _) in zip(SCRIPT_DAMAGE, results):
        said = (output + errors).splitlines()
        assert (status, len(said)) == (2, 1) and len(said[0]) < 500, (damage, said)
        assert "run.json" in said[0] and "Traceback" not in said[0], (damage, said)


def test_every_reader_of_a_file_is_tried():
    """A command that reads a file is in this table: what is new must be added."""
    assert {case[3][0] for case in CASES} == {
        "findings", "compare", "check", "history", "run", "shard", "study", "trace", *JUDGED}
    assert pathlib.Path(ZEROTAX).exists()
