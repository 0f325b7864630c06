"""The programs of docs/examples/programs/ under `zerotax cow`: the document matches the programs' own output."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

import pytest

from conftest import SOURCE, ZEROTAX, clean_environment
from watching import as_root, checked, faults, on_range, watch

EXAMPLES = SOURCE / "docs/examples/programs"
# The number of shared objects, the number of added objects, and the seconds.
FEW = (40000, 60000, 0.5)
INTERPRETERS = {"bigarray.py": "/usr/bin/python3", "bigarray.rb": shutil.which("ruby")}
METHODS = [pytest.param("tracepoints", marks=as_root), "software"]


def interpreter_of(name):
    if INTERPRETERS[name] is None:
        pytest.skip("ruby is missing: install ruby")
    return INTERPRETERS[name]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", INTERPRETERS)
def test_each_page_of_the_parent_that_a_growing_child_wrote_was_copied(name, method):
    report, done = watch(interpreter_of(name), EXAMPLES / name, *FEW, ZEROTAX_FAULTS=method)
    said = re.fullmatch(r"the child wrote (\d+) pages of its parent and (\d+) others\n", done.stdout)
    assert said, done.stdout
    shared, others = map(int, said.groups())
    parent, child = report["processes"]
    # Every second of 40,000 objects of 40 bytes or more is dropped, so each page has holes.
    assert shared > 200 and others > 100
    assert child["parent"] == parent["pid"] and child["counts"]["copies"] >= shared
    assert child["counts"]["copies"] + child["counts"]["zero_fills"] >= shared + others
    assert parent["counts"]["copies"] < shared


@pytest.mark.parametrize("name", INTERPRETERS)
@pytest.mark.parametrize("words", [["x"], ["-1"], ["1", "2", "3", "4"], ["nan"]])
def test_an_example_refuses_what_is_no_number_in_one_line(name, words):
    done = subprocess.run([interpreter_of(name), EXAMPLES / name, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module", name="prefork")
def compiled_server():
    compiler = shutil.which("cc", path="/usr/bin:/bin")
    if compiler is None:
        pytest.skip("no C compiler: install gcc")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "prefork")
        subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", program, EXAMPLES / "prefork.c"], check=True)
        yield program


def ask(url, pages):
    """Returns the PID of the worker that answered, and the number of pages that it has written."""
    with urllib.request.urlopen(f"{url}/{pages}", timeout=30) as answer:
        pid, written = re.fullmatch(r"worker (\d+) has written (\d+) of \d+ pages\n", answer.read().decode()).groups()
    return int(pid), int(written)


@pytest.mark.parametrize("method", METHODS)
def test_each_worker_of_a_preforking_server_copied_what_it_wrote(prefork, method, tmp_path):
    pages, workers = 2000, 3
    file = tmp_path / "cow.json"
    with subprocess.Popen([ZEROTAX, "cow", "--json", file, "--interval", "0.2", "--", prefork, str(pages), str(workers)],
                          env=clean_environment(ZEROTAX_FAULTS=method), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as watcher:
        parent, url = re.match(r"prefork (\d+) on (\S+) with", watcher.stdout.readline()).groups()
        written = {}
        for more in (10, 500, 1, 0, 77, 1200, 3000):
            written.update([ask(url, more)])
        subprocess.run(["kill", f"-{signal.SIGTERM.value}", parent], check=True)
        _, lines = watcher.communicate(timeout=60)
    assert watcher.returncode == 0
    report = checked(json.loads(file.read_text()))
    server, *children = report["processes"]
    assert len(children) == workers and on_range(server, pages) == faults(zero_fills=pages)
    for child in children:
        assert child["parent"] == int(parent) == server["pid"]
        assert on_range(child, pages) == faults(copies=written.get(child["pid"], 0))
        # The live lines name each worker, and its start.
        assert re.search(rf"^ +child {child['pid']} ", lines, re.MULTILINE)
        assert re.search(rf"child {child['pid']} began: prefork, forked by {parent}$", lines, re.MULTILINE)
    assert sum(written.values()) > 0


@pytest.mark.parametrize("words", [["0"], ["x"], ["1", "0"], ["1", "1000"], ["1", "1", "1"]])
def test_the_server_refuses_what_is_no_number_in_one_line(prefork, words):
    done = subprocess.run([prefork, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
