"""A program in Python whose copies after a fork have known writers."""

from conftest import PAGE
from watching import watch

PYTHON = "/usr/bin/python3"

# Each list has a reference count and a collector header. The child prints how many bytes it made private.
LISTS = """
import gc, os, sys, time
lists = [[] for _ in range(200_000)]
gc.collect()
if "freeze" in sys.argv:
    gc.freeze()
if os.fork() == 0:
    def private():
        with open("/proc/self/smaps_rollup") as lines:
            return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))
    before = private()
    if "collect" in sys.argv:
        gc.collect()
    if "iterate" in sys.argv:
        for each in lists:
            pass
    print((private() - before) * 1024)
    sys.stdout.flush()
    time.sleep(3)  # zerotax reads the written words after the faults
    os._exit(0)
os.wait()
"""
# Does with 200,000 lists what its argument says: never, nothing, collect or iterate.
FORKED_LISTS = """
import gc, os, sys
lists = [[] for _ in range(200_000)]
gc.collect()
if sys.argv[1] != "never":
    child = os.fork()
    if child == 0:
        if sys.argv[1] == "collect":
            gc.collect()
        for each in lists if sys.argv[1] == "iterate" else ():
            pass
        os._exit(0)
    os.waitpid(child, 0)
"""
LIST_PAGES = 200_000 * 64 // PAGE  # a list of CPython takes 64 bytes
FEW = 200  # more pages than any child of CPython copies before it does any work


def writers(report):
    """Returns the children's copies by writer."""
    found = {}
    for writing in report["writers"]:
        found[writing["writer"]] = found.get(writing["writer"], 0) + writing["by_children"]
    assert sum(writing["copies"] for writing in report["writers"]) == report["totals"]["copies"]
    assert sum(writing["copied_bytes"] for writing in report["writers"]) == report["totals"]["copied_bytes"]
    return found


def children(report):
    return sum(process["counts"]["copies"] for process in report["processes"] if process["parent"] != 0)


def lists(*words, method="", prefix=(), options=(), python=(PYTHON,)):
    environment = {"ZEROTAX_FAULTS": method} if method else {}
    report, done = watch(*python, "-c", LISTS, *words, prefix=prefix, options=options, **environment)
    return report, int(done.stdout) // PAGE, " ".join(done.stderr.split())
