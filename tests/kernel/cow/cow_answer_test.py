"""`zerotax cow` answers on one screen. With --full, `cow` prints every table."""

import subprocess

import pytest

from answers import answer_of, check_screen
from conftest import NOBODY, SOURCE, ZEROTAX, clean_environment, skip_if_unreadable
from watching import FORKS

pytestmark = pytest.mark.timeout(120)
CHILDREN = "import os\nfor _ in range(200):\n    if os.fork() == 0: os._exit(0)\n    os.wait()\n"
REFERENCE = SOURCE / "results" / "reference" / "cow"


def cow(*words, prefix=(), **environment):
    return subprocess.run([*prefix, ZEROTAX, "cow", *map(str, words)], timeout=100, capture_output=True, text=True,
                          check=False, env=clean_environment(**environment))


@pytest.mark.parametrize("words, subject", [
    ((FORKS, 2000, 500, 300, 400), "forks: "),
    (("/bin/true",), "true: "),
    (("/bin/sh", "-c", "kill -9 $$"), "sh: "),
    (("/usr/bin/python3", "-c", CHILDREN), "python3: "),
])
@pytest.mark.parametrize("prefix", [(), NOBODY], ids=["root", "nobody"])
def test_the_answer_fits_one_screen(words, subject, prefix):
    if prefix:
        skip_if_unreadable()
    done = cow("--", *words, prefix=prefix, NO_COLOR="1")
    if done.returncode == 3:
        pytest.skip(done.stderr)
    lines = answer_of(done.stderr, subject)
    check_screen(lines)
    assert "copied" in lines[0] and lines[-1].endswith(": --full")


def test_it_names_the_child_the_place_and_the_next_command():
    text = cow("--read", REFERENCE / "prefork.json").stdout
    check_screen(text.splitlines())
    for part in ("10,024 by its\nchildren", "child 3689 prefork", "Where: 2,650 of the copies were in anonymous",
                 "function main (prefork)", "Try:   have the children write less", "zerotax snapshot --size 64MiB"):
        assert part in text, text


def test_full_has_every_table():
    text = cow("--full", "--read", REFERENCE / "prefork.json").stdout
    assert all(f"  {heading}\n" in text for heading in ("process", "mapping", "code")) and "\nTry:   have" in text
