"""Damage to files that zerotax reads, by kind of file. Each entry has a function that damages the file, and a word of
the refusal.
"""

import json
import os
import shutil


def text(new):
    return lambda path: path.write_bytes(new if isinstance(new, bytes) else new.encode())


def replaced(change):
    """Damages a file by changing its bytes."""
    return lambda path: path.write_bytes(change(path.read_bytes()))


def edited(change):
    """Damages a JSON document. `change` edits the document, or returns another document."""
    def spoil(path):
        document = json.loads(path.read_text())
        path.write_text(json.dumps(change(document) or document))
    return spoil


def instead(make):
    """Replaces the file with something else of the same name."""
    def spoil(path):
        path.unlink()
        make(path)
    return spoil


def huge(path):
    with open(path, "wb") as file:
        file.truncate((1 << 30) + 1)  # a sparse file takes no disk space


# Damage to any JSON file, with a word that the refusal must contain.
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
    """Damages the second point of a run."""
    return edited(lambda run: change(run["points"][1]))


def set_point(**figures):
    return of_point(lambda point: point.update(figures))


# Damage to the points of a run, with the place that the refusal names.
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

# Damage to a line of points.jsonl.
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

# Damage to the plan that --resume continues.
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

FORKS = {
    "a section with more samples than its process": (
        edited(lambda fork: fork["processes"][1]["samples"][0]["sections"][4].update(samples=10**6)), "registers and FPU"),
    "clearing with more samples than its process": (
        edited(lambda fork: fork["processes"][0]["samples"][0]["clearing"].update(samples=10**6)), "clearing"),
    "a process that lacks a section": (
        edited(lambda fork: fork["processes"][1]["samples"][0]["sections"].pop() and None), "different sections"),
    "a process that lacks a phase": (
        edited(lambda fork: fork["processes"][1]["phases"]["phases"].pop() and None), "different sections or phases"),
}

# Damage to a trace: the file, and the function that damages it.
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

# Damage to a recipe.
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


# Damage to the entry that a host of a fleet writes about itself.
HOSTS = {
    "no environment of a host": (edited(lambda host: host.pop("environment") and None), "environment"),
    "a kernel that is a number": (edited(lambda host: host["environment"].update(kernel=6)), "/environment/kernel"),
}

# Damage to the file that the tasks of a job read.
FLEETS = {
    "an unknown kind": (edited(lambda fleet: fleet.update(kind="mine")), "unknown kind 'mine'"),
    "no shards": (edited(lambda fleet: fleet.update(shards=[])), "no shard 0"),
    "a shard of nothing": (edited(lambda fleet: fleet.update(shards=[[]])), "/shards/0"),
    "a shard that is a word": (edited(lambda fleet: fleet.update(shards=["x"])), "/shards/0"),
    "lanes without axes": (edited(lambda fleet: fleet.update(kind="lanes")), "damaged"),
    "versions without a repository": (edited(lambda fleet: fleet.update(kind="versions")), "damaged"),
    "a token that is a path": (edited(lambda fleet: fleet.update(token="../x")), "/token"),
}
