"""Helpers for tests of refusals: a command that must end soon, and a folder that must not change."""

import concurrent.futures
import os
import subprocess
import time

from conftest import clean_environment, without_progress

LONGEST_LINE = 500
HANGS = 20  # seconds; a refusal takes a fraction of a second


def contents(folder):
    """Returns every name below a folder. With each name: the contents or the type, and the time of the last change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        small = path.is_file() and not path.is_symlink() and status.st_size < 1 << 26
        found[str(path)] = (status.st_mode, status.st_size if not path.is_dir() else None,
                            path.read_bytes() if small else None, None if path.is_dir() else status.st_mtime_ns)
    return found


def try_line(words, folder, environment=None):
    """Runs a command. Returns (status, standard output, standard error, seconds), without a status if the command
    hangs.
    """
    begin = time.monotonic()
    try:
        done = subprocess.run(
            words, cwd=folder, env=environment or clean_environment(), capture_output=True, stdin=subprocess.DEVNULL,
            timeout=HANGS, check=False)
    except subprocess.TimeoutExpired:
        return None, "", f"still running after {HANGS} s", HANGS
    return (done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"),
            time.monotonic() - begin)


def try_all(jobs):
    """Runs a few of the functions at a time, and returns their results in the order of the functions. Prints which
    function took longest.
    """
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: job(), jobs))
    print(f"slowest of {len(results)}: {max(seconds for *_, seconds in results):.2f} s")
    return results


def check_refusal(result):
    """Fails unless a command ended with status 2, printed nothing to standard output, and printed one readable line to
    standard error. The line must name a problem and a remedy. Returns the line.
    """
    status, output, errors, _ = result
    assert (status, output) == (2, ""), (errors, output[:500])
    assert errors.startswith("zerotax: ") and errors.endswith("\n") and errors.count("\n") == 1, errors
    assert all(each.isprintable() for each in errors[:-1]), errors
    assert all(errors.rstrip().split(": ", 2)[1:3]) and errors.count(": ") >= 2, errors
    assert "defect in zerotax" not in errors and len(errors) <= LONGEST_LINE, (len(errors), errors)
    return errors


def refused(done, *words):
    """Fails unless the command refused with one line that contains these words and a remedy."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    said = without_progress(done.stderr)
    assert said.endswith("\n") and said.count("\n") == 1, said
    assert said.startswith("zerotax: ")
    _, problem, remedy = said.rstrip().split(": ", 2)
    assert problem and remedy
    for word in words:
        assert word in said, said
