"""Helpers to run programs with liblargecache.so preloaded.

The library is $ZEROTAX_BUILD/lib/liblargecache.so. ZEROTAX_BUILD defaults to <repository>/build.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", REPOSITORY / "build")).resolve()
LIBRARY = BUILD / "lib" / "liblargecache.so"
MIB = 1 << 20

is_built = pytest.mark.skipif(not LIBRARY.exists(), reason=f"{LIBRARY} is not built; build it or set ZEROTAX_BUILD")


def unit_tests_of_largecache():
    """Returns the object files that are linked with a changed library: largecache's unit tests, and the files of the
    harness that the tests need.
    """
    objects = sorted((BUILD / "tests" / "CMakeFiles" / "largecache_tests.dir").rglob("*.cxx.o"))
    assert objects, "largecache_tests is not built: ./run test builds it"
    return [*objects, *(BUILD / "harness").rglob("emulated_cpu_*.o")]


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def environment(preload, **knobs):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LARGECACHE_")}
    clean.pop("LD_PRELOAD", None)
    return {**clean, "LC_ALL": "C", **knobs, **({"LD_PRELOAD": str(LIBRARY)} if preload else {})}


def run(command, preload=True, cwd=None, prefix=(), **knobs):
    """Runs a command to its end. The knobs are environment variables. The library is not preloaded into the command in
    `prefix`.
    """
    if prefix:
        variables = environment(False, **knobs)
        command = [*prefix, "env", *([f"LD_PRELOAD={LIBRARY}"] if preload else []), *map(str, command)]
    else:
        variables = environment(preload, **knobs)
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, timeout=300, check=False)


# The default settings, and settings under which nearly every block above a page is large, so that the cache serves the
# whole program.
KNOBS = {
    "116": {},
    "116 low": {"LARGECACHE_THRESHOLD": "4096", "LARGECACHE_RESERVE": "4MiB"},
    "adaptive": {"LARGECACHE_POLICY": "adaptive"},
    "adaptive low": {"LARGECACHE_POLICY": "adaptive", "LARGECACHE_THRESHOLD": "4096", "LARGECACHE_ENTRIES": "16"},
}
SHORT = ("adaptive low",)  # the most demanding of KNOBS
each_knobs = pytest.mark.parametrize("knobs", [
    pytest.param(knobs, id=name, marks=[] if name in SHORT else pytest.mark.long("less of the same cache"))
    for name, knobs in KNOBS.items()])


def succeed(command, cwd=None, **knobs):
    done = run(command, cwd=cwd, **knobs)
    assert done.returncode == 0, (done.stdout[-2000:] + done.stderr[-2000:]).decode(errors="replace")
    assert b"largecache:" not in done.stderr
    return done.stdout
