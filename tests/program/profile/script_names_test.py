"""`profile`, `record` and `cow` find the function names of scripts in the perf maps that some interpreters write."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import MIB, SOURCE, ZEROTAX, check_schema, clean_environment, is_na

DEBIAN = "/usr/bin/python3"
NODE = shutil.which("node", path="/usr/bin:/bin")
OPTIMISES = ["--perf-basic-prof", "--allow-natives-syntax"]
PAGES = 4096
# The call tree of a program such as node is deep, and checking its schema recurses to the same depth.
sys.setrecursionlimit(50_000)


def with_trampolines():
    """Returns a CPython of version 3.12 or later that was built with perf maps; None if none is installed."""
    candidates = sorted((pathlib.Path.home() / ".pyenv" / "versions").glob("3.1[2-9].*/bin/python3"))
    for name in ("python3", "python3.12", "python3.13", "python3.14"):
        candidates += filter(None, [shutil.which(name)])
    for python in [sys.executable, *candidates]:
        asked = [python, "-X", "perf", "-c", "import os, sys; print(sys.is_stack_trampoline_active(), os.getpid())"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        active, _, pid = done.stdout.strip().partition(" ")
        if done.returncode == 0 and active == "True":
            pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
            return python
    return None


PYTHON = with_trampolines()
needs_node = pytest.mark.skipif(NODE is None, reason="node is missing: install nodejs")
needs_trampolines = pytest.mark.skipif(PYTHON is None, reason="no CPython 3.12 or later with -X perf here")


@pytest.fixture(scope="module", autouse=True)
def needs_events():
    done = subprocess.run([ZEROTAX, "profile", "--json", "-", "--", "/bin/true"], capture_output=True, check=False)
    if done.returncode == 3:
        pytest.skip("this kernel permits no sampling")


def forget_maps(found):
    """Removes the perf maps that the processes in a document have written."""
    pids = {process["pid"] for process in found.get("processes", [])} | {thread["pid"] for thread in found.get("threads", [])}
    for pid in {*pids, found.get("process", {}).get("pid")} - {None}:
        pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)


def watched(command, tmp_path, *words, stdin=""):
    """Returns the checked JSON of a command about a program, and its messages."""
    file = tmp_path / f"{command}.json"
    done = subprocess.run([ZEROTAX, command, "--full", "--json", file, "--", *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=300, env=clean_environment(), input=stdin, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    forget_maps(found)
    check_schema(found, command)
    return found, " ".join(done.stderr.split())


def paths(tree, before=()):
    """Yields every path of a call tree, as (function, module)."""
    for call in tree:
        path = (*before, (call["function"], call["module"]))
        yield path
        yield from paths(call["children"], path)


def names_of(found, interpreter):
    [names] = [each["names"] for each in found["script_names"] if each["interpreter"].startswith(interpreter)]
    return names


def script(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text)
    return file


SPIN = """
def inner(until):
    total = 0
    for number in range(until):
        total += number * number % 7
    return total

def outer():
    for _ in range(12):
        inner(400_000)

outer()
"""


@needs_trampolines
def test_the_call_tree_has_pythons_functions_in_place_of_its_loop(tmp_path):
    file = script(tmp_path, "spin.py", SPIN)
    found, said = watched("profile", tmp_path, PYTHON, "-X", "perf", file)
    mine = "spin.py"
    chain = (("<module>", mine), ("outer", mine), ("inner", mine))
    every = list(paths(found["tree"]))
    inside = [path for path in every if path[-1] == ("inner", mine)]
    # The stacks reach from `_start` to the innermost function.
    assert any(tuple(frame for frame in path if frame[1] == mine) == chain and path[1][0] == "_start" for path in inside)
    at_top = {entry["function"]: entry["samples"] for entry in found["top_of_stack"]}
    loop = sum(samples for name, samples in at_top.items() if name.startswith("_PyEval_EvalFrameDefault"))
    assert loop <= 0.05 * found["samples"] and at_top["inner"] >= 0.1 * found["samples"]
    assert names_of(found, "CPython") == "perf map" and "names no functions of scripts" not in said


@needs_trampolines
def test_faults_in_a_forked_child_are_put_down_to_the_scripts_function(tmp_path):
    words = [PYTHON, "-X", "perf", SOURCE / "docs/examples/programs" / "bigarray.py", 40000, 60000, 0.5]
    file = tmp_path / "cow.json"
    done = subprocess.run([ZEROTAX, "cow", "--stacks", "--first-child", "--json", file, "--", *map(str, words)],
                          capture_output=True, text=True, check=False, timeout=300, env=clean_environment())
    found = json.loads(file.read_text())
    forget_maps(found)
    check_schema(found, "cow")
    shared = int(done.stdout.split()[3])
    [grow] = [code["counts"] for code in found["code"] if (code["function"], code["module"]) == ("grow", "bigarray.py")]
    assert shared > 300 and grow["copies"] > 0.8 * shared
    assert sum(code["counts"]["copies"] for code in found["code"]) == found["totals"]["copies"]
    assert found["stacks"]["taken"] > shared
    assert names_of(found, "CPython") == "perf map" and "grow (bigarray.py)" in done.stderr


@needs_trampolines
def test_a_site_has_the_script_function_that_asked_for_the_memory(tmp_path):
    text = "def allocate():\n    return bytearray(3_000_000)\n\nfor _ in range(20):\n    allocate()\n"
    file = script(tmp_path, "buffers.py", text)
    found, said = watched("record", tmp_path, PYTHON, "-X", "perf", file)
    [site] = [site for site in found["sites"] if site["calls"] == 20 and site["kind"] == "by_hand"]
    [frame] = [frame for frame in site["frames"] if frame["function"] == "allocate"]
    assert frame["file"] == str(file) and is_na(frame["module"]) and is_na(frame["line"])
    assert "allocate (buffers.py)" in said and "names no functions of scripts" not in said


@pytest.mark.parametrize("command", ["profile", "cow"])
def test_a_python_without_trampolines_is_told_of_in_one_line(tmp_path, command):
    version = subprocess.run([DEBIAN, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True,
                             check=True).stdout.strip()
    found, said = watched(command, tmp_path, DEBIAN, "-c", "b = [bytearray(100_000) for _ in range(300)]")
    assert is_na(names_of(found, f"CPython {version}"))
    assert len(re.findall(r"CPython [0-9.]+ names no functions of scripts", said)) == 1
    assert ("-X perf" in said) and ("--stacks" in said) == (command == "cow")


@pytest.mark.parametrize("command", ["profile", "record"])
def test_a_damaged_map_costs_a_line_and_nothing_else(tmp_path, command):
    damage = "import os; open(f'/tmp/perf-{os.getpid()}.map', 'w').write('1000 10 fine\\n\\x1b[31m\\n'); "
    found, said = watched(command, tmp_path, DEBIAN, "-c", damage + "b = [bytearray(100_000) for _ in range(3000)]")
    [problem] = [each["problem"] for each in found["script_names"]]
    assert problem.endswith(".map: line 2 is damaged") and "\x1b" not in said
    assert said.count("is damaged") == 1


TOUCH = """
function touch(array) { for (let i = 0; i < array.length; i += 4096) array[i] = 1; }
%PrepareFunctionForOptimization(touch);
const small = new Uint8Array(1 << 16);
touch(small); touch(small);
%OptimizeFunctionOnNextCall(touch);
touch(small);
touch(new Uint8Array(PAGES * 4096));
""".replace("PAGES", str(PAGES))


@needs_node
@pytest.mark.skipif(os.geteuid() != 0, reason="tracepoints are root's")
def test_faults_of_compiled_code_are_put_down_to_its_function(tmp_path):
    found, said = watched("cow", tmp_path, NODE, *OPTIMISES, script(tmp_path, "touch.js", TOUCH))
    [touch] = [code["counts"] for code in found["code"] if (code["function"], code["module"]) == ("touch", "touch.js")]
    # The allocator may have populated the first page already.
    assert PAGES - 1 <= touch["zero_fills"] <= PAGES + 16
    assert names_of(found, "Node.js") == "perf map" and "touch (touch.js)" in said


COMPUTE = """
function compute(until) { let x = 0; for (let i = 0; i < until; ++i) x = (x * 31 + i) % 1000003; return x; }
function rounds() { let sum = 0; for (let i = 0; i < 60; ++i) sum += compute(1500000); return sum; }
console.log(rounds() > 0);
"""


@needs_node
@pytest.mark.parametrize("contained", [False, pytest.param(True, marks=pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root, and unshare"))])
def test_compiled_functions_are_in_the_call_tree_also_in_a_container(tmp_path, contained):
    words = [NODE, "--perf-basic-prof", script(tmp_path, "compute.js", COMPUTE)]
    if contained:   # the PID differs from the PID outside of the namespace, and /tmp is a new file system
        inside = "mount -t tmpfs none /tmp && cat >/tmp/compute.js && exec \"$@\" /tmp/compute.js"
        words = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "/bin/sh", "-c", inside, "sh", *words[:2]]
    found, _ = watched("profile", tmp_path, *words, stdin=COMPUTE)
    top = {(entry["function"], entry["module"]): entry["samples"] for entry in found["top_of_stack"]}
    assert top.get(("compute", "compute.js"), 0) > 0.3 * found["samples"]
    assert names_of(found, "Node.js") == "perf map"


ALLOCATE = """
function allocate() { return Buffer.alloc(4 << 20).fill(1); }
%PrepareFunctionForOptimization(allocate);
allocate(); allocate();
%OptimizeFunctionOnNextCall(allocate);
for (let i = 0; i < 20; ++i) allocate();
"""


@needs_node
def test_a_site_has_the_compiled_function_that_asked_for_the_memory(tmp_path):
    found, said = watched("record", tmp_path, NODE, *OPTIMISES, script(tmp_path, "allocate.js", ALLOCATE))
    large = [site for site in found["sites"] if site["requested_bytes"] >= 4 * MIB]
    calls = sum(site["calls"] for site in large
                if any(frame["function"] == "allocate" and frame["line"] == 2 for frame in site["frames"]))
    assert calls >= 20, large
    assert "allocate (allocate.js:2)" in said


@needs_node
def test_a_node_that_writes_no_map_is_told_how_to(tmp_path):
    found, said = watched("profile", tmp_path, NODE, script(tmp_path, "compute.js", COMPUTE))
    assert is_na(names_of(found, "Node.js")) and "--perf-basic-prof" in said
