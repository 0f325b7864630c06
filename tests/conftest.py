"""Helpers for the integration tests: the built command, and its results, read and checked against the schemas."""

import csv
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import jsonschema
import pytest

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).resolve().parents[1]))
# Modules that tests of several rooms share, and modules that the tests of figures and pages import. The tests run in a
# python3 that has matplotlib and jsonschema (cmake/ZerotaxPython.cmake).
sys.path[:0] = [str(SOURCE / "tests" / "support"), str(SOURCE / "tests" / "support" / "sample_results"), str(SOURCE / "plots")]
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", SOURCE / "build")).resolve()
ZEROTAX = BUILD / "bin" / "zerotax"
PLANTED = BUILD / "tests" / "planted"
# The figures and the page ask the command for data that a file of an earlier version lacks.
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(BUILD / "bin")])

KIB = 1 << 10
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
INTERRUPTED_BY_SIGINT = 130
INTERRUPTED_BY_SIGTERM = 143

# Metrics that depend only on the allocator and the kernel, not on the clock.
DETERMINISTIC = (
    "zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "zeroed_method",
    "calloc_faults", "touch_faults", "free_faults", "calloc_syscalls", "free_syscalls",
)

# A prefix that makes root an ordinary user.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

# mimalloc returns memory 25 ms after free. On a slow machine, this return falls into different calls from run to run.
# The long delay prevents the return, so that two runs can be compared.
UNHURRIED_MIMALLOC = "MIMALLOC_DECOMMIT_DELAY=100000"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # Each pytest that starts makes the shared folder private again. Another test that has opened this folder to the
    # user nobody would then fail.
    if config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="pytest-zerotax-")
    config.addinivalue_line("markers", "long(why): too long for ./run test, which leaves it to ./run test --all")
    config.addinivalue_line("markers", "timeout(seconds): handled by pytest-timeout, if that is installed")


# Only ./run test skips long tests. A test that is named on the command line is not skipped.
LONG_TOO = os.environ.get("ZEROTAX_LONG") != "no"


def mostly_long(rows, short, why):
    """Returns the rows for a parametrize. All rows except those of `short` are marked long, because each repeats a
    short row with other values.
    """
    return [row if row in short else pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.long(why))
            for row in rows]


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 0 and "pytest-zerotax-" in str(session.config.option.basetemp):
        shutil.rmtree(session.config.option.basetemp, ignore_errors=True)


def pytest_collection_modifyitems(items):
    for item in items:
        mark = item.get_closest_marker("long")
        # A hanging test fails under its own name, with the stack at which it hangs. ctest would end the whole file
        # without a message.
        item.add_marker(pytest.mark.timeout(600 if mark is None else 1500))
        if mark is not None and not LONG_TOO:
            item.add_marker(pytest.mark.skip(reason=f"long ({mark.args[0]}): ./run test --all"))


def open_to_nobody(folder, mode=0o777):
    """Opens a folder of this test to all users, because pytest's folders are private to the user who runs pytest."""
    folder.chmod(mode)
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and "pytest" in str(parent):
            parent.chmod(0o755)


def skip_if_unreadable():
    """Skips the test if the user nobody cannot start the programs of this tree, as in a tree below /root."""
    # setpriv may start the command although the command cannot start its probes.
    if subprocess.run([*NOBODY, ZEROTAX, "list"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{ZEROTAX} and its probes are not readable for everybody")


def clean_environment(**changes):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ZEROTAX_", "LARGECACHE_"))}
    environment.pop("LD_PRELOAD", None)
    return {**environment, "LC_ALL": "C", **changes}


def zerotax(*arguments, prefix=(), cwd=None, timeout=300, **environment):
    """Runs the command, and returns its output and status."""
    return subprocess.run(
        [*map(str, prefix), str(ZEROTAX), *map(str, arguments)], cwd=cwd, timeout=timeout,
        env=clean_environment(**environment), capture_output=True, text=True, check=False)


def interrupt(*arguments, after_s=0, said="", timeout=60):
    """Runs the command, and sends it SIGINT `after_s` seconds after it has printed `said` on standard error. Returns
    (standard output, standard error).
    """
    with subprocess.Popen([ZEROTAX, *map(str, arguments)], env=clean_environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        while said and (line := run.stderr.readline()) and said not in line:
            pass
        time.sleep(after_s)
        assert run.poll() is None, "the command ended before it could be interrupted"
        run.send_signal(signal.SIGINT)
        text, errors = run.communicate(timeout=timeout)
    assert run.returncode == INTERRUPTED_BY_SIGINT, errors
    assert "interrupted" in errors.splitlines()[-1]
    return text, errors


def measure(*arguments, status=0, **how):
    """Runs `zerotax run` with these arguments. Fails unless the exit status is `status`. Returns the checked JSON."""
    done = zerotax("run", *arguments, "--json", "-", **how)
    assert done.returncode == status, done.stderr or done.stdout[:2000]
    run = json.loads(done.stdout)
    check_schema(run)
    return run


def planted(*names):
    """Returns the arguments that measure these planted allocators, each under its own name."""
    return [word for name in names for word in ("--allocator", f"{name}={PLANTED / f'lib{name}.so'}")]


def options(name, values):
    """Returns the arguments --name value for each value."""
    return [word for value in values for word in (f"--{name}", str(value))]


def point_of(run, allocator, **keys):
    """Returns the one point of this allocator with these keys."""
    found = [
        point for point in run["points"]
        if point["allocator"] == allocator and all(point[key] == value for key, value in keys.items())]
    assert len(found) == 1, f"{len(found)} points of {allocator} with {keys}"
    return found[0]


def same(key, one, other):
    """Returns whether a metric of an early operation agrees between two points."""
    # The kernel may take a few more faults at any time, as when it moves a page to compact memory.
    if key.endswith("_faults") and not is_na(one) and not is_na(other):
        return abs(one - other) <= 8
    return one == other


def differences(one, other, keys=DETERMINISTIC):
    """Returns the metrics in which two points differ although they must always be the same. Metrics of the early
    operations are included.
    """
    found = [f"{key}: {one[key]} and {other[key]}" for key in keys if one[key] != other[key]]
    if len(one["first_ops"]) != len(other["first_ops"]):
        found.append(f"{len(one['first_ops'])} and {len(other['first_ops'])} early operations")
    for early, late in zip(one["first_ops"], other["first_ops"]):
        found += [
            f"operation {early['op']}, {key}: {early[key]} and {late[key]}"
            for key in keys if key != "zeroed_method" and not same(key, early[key], late[key])]
    return found


def without_progress(errors):
    """Returns the command's standard error without the progress that it shows after two seconds."""
    return re.sub(r"^[a-z][^:\n]*: \d+ of \d+(, .*)?\n", "", errors, flags=re.MULTILINE)


def is_na(figure):
    return isinstance(figure, dict) and set(figure) == {"na"} and bool(figure["na"].strip())


def watches_inline_stores(run):
    """Whether zerotax can see stores outside of memset on this machine (Linux 6.7, userfaultfd not forbidden)."""
    tracking = run["environment"]["capabilities"]["write_tracking"]
    return run["environment"]["pagemap_scan"] is True and tracking.startswith("userfaultfd,")


def huge_pages_setting():
    """Returns the system's huge-page setting "always", "madvise" or "never", or "" without huge pages."""
    setting = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return setting.read_text().split("[")[1].split("]")[0] if setting.exists() else ""


def one_fault_brings_one_page(run):
    return run["environment"]["thp"] != "always"


# Documents whose schema is an alternative in the file of another document.
SCHEMA_FILES = {"program_baseline": "baseline", "program_check": "check", "program_checks": "check",
                "crossover": "compare", "program_compare": "compare", "bench_compare": "compare",
                "cow_compare": "compare"}


@functools.cache
def validator(name):
    """Returns a validator of the documents zerotax.NAME/1. Reading the schemas takes longer than checking a small
    document.
    """
    store = {file.name: json.loads(file.read_text()) for file in (SOURCE / "results" / "schema").glob("*.schema.json")}
    file = SCHEMA_FILES.get(name, name)
    schema = store[f"{file}.schema.json"]
    resolver = jsonschema.RefResolver(base_uri=f"{file}.schema.json", referrer=schema, store=store)
    for alternative in schema.get("oneOf", []):
        # If the alternative of this schema is tested alone, it reports the mistake. All alternatives together report
        # only that none of them matches.
        chosen = resolver.resolve(alternative["$ref"])[1] if "$ref" in alternative else {"properties": {}}
        if f"zerotax.{name}/1" in chosen["properties"].get("schema", {}).get("enum", []):
            schema = alternative
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def check_schema(document, name="run"):
    """Fails unless the document matches its schema in results/schema."""
    errors = list(validator(name).iter_errors(document))
    assert not errors, "\n".join(f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in errors[:5])


def read_folder(folder):
    """Returns run.json and the checked points of a results folder. Every line of points.jsonl must be whole."""
    run = json.loads((folder / "run.json").read_text())
    check_schema(run)
    text = (folder / "points.jsonl").read_text()
    assert text == "" or text.endswith("\n"), "the last line is cut"
    points = [json.loads(line) for line in text.splitlines()]
    for point in points:
        check_schema(point, "point")
    return run, points


def csv_rows(folder):
    with open(folder / "points.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="session", autouse=True)
def built_command():
    if not ZEROTAX.exists():
        pytest.exit(f"{ZEROTAX} is not built; build it or set ZEROTAX_BUILD", returncode=2)
