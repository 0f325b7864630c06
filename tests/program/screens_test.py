"""Each command that measures a program prints at most one screen by default, whatever the program does: one cause of
zeroing, five, none, a kill, a static program, or 200 processes; for root and for nobody, in a pipe with NO_COLOR.
"""

import os
import tempfile

import pytest
from answers import check_screen
from conftest import NOBODY, skip_if_unreadable, zerotax
from recording import KNOWN, PROGRAMS

pytestmark = pytest.mark.timeout(240)
STATIC = PROGRAMS / "ended-static"
SUBJECTS = {
    "one cause": [PROGRAMS / "refill", "malloc", 20, 4, 1 << 20],
    "five causes": [KNOWN],
    "no cause": ["/bin/true"],
    "killed": ["/bin/sh", "-c", "kill -9 $$"],
    "static": [STATIC, 40, "return"],
    "200 processes": ["/bin/sh", "-c", "for i in $(seq 200); do /bin/true; done"],
}
# Commands that refuse a program print one line on standard error instead of a screen.
REFUSES = {("check", "static"), ("advise", "five causes"), ("advise", "killed"), ("advise", "static"), ("compare", "five causes"),
           ("compare", "killed"), ("compare", "static"), ("check", "killed"), ("replay", "static"), ("replay", "no cause")}


def default_output(command, words, folder, prefix):
    """Returns the status of a command for a program, and its output without the lines before the answer."""
    def run(*all_words):
        return zerotax(*all_words, prefix=prefix, NO_COLOR="1", cwd="/", timeout=200)

    if command in ("record", "profile", "cow"):
        done = run(command, "--", *words)
        # Lines on time, and a blank line, come before the answer of cow.
        return done, done.stderr.split("\n\n", 1)[1] if command == "cow" else done.stderr
    if command == "check":
        blessed = run("bless", "--baseline", f"{folder}/b.json", "--allow-failing", "--", *words)
        done = run("check", "--baseline", f"{folder}/b.json", "--", *words) if blessed.returncode == 0 else blessed
    elif command == "compare":
        done = run("compare", "--rounds", 10, "--", *words, "---", *words)
    elif command == "replay":
        run("record", "--calls", f"{folder}/a.calls", "--", *words)
        done = run("replay", f"{folder}/a.calls", "--allocator", "glibc")
    else:
        done = run("advise", "--settings-only", "--rounds", 10, "--", *words)
    return done, done.stdout


def check(command, subject, prefix=()):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        done, text = default_output(command, SUBJECTS[subject], folder, prefix)
    if (command, subject) in REFUSES and done.returncode in (2, 3):
        assert text == "" and done.stderr.splitlines()[-1].startswith("zerotax: "), done.stderr
        return
    lines = text.splitlines()
    check_screen(lines)
    assert lines[0] and not lines[0].startswith(" "), text


COMMANDS = ["record", "advise", "profile", "cow", "check", "compare", "replay"]
SHORT = {("record", "five causes"), ("record", "200 processes"), ("cow", "200 processes"), ("check", "one cause")}


@pytest.mark.parametrize("command, subject", [
    pytest.param(command, subject, marks=() if (command, subject) in SHORT else pytest.mark.long("seven minutes in all"))
    for command in COMMANDS for subject in SUBJECTS])
def test_the_default_fits_one_screen(command, subject):
    check(command, subject)


@pytest.mark.long("the same screens as another user")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
@pytest.mark.parametrize("subject", ["five causes", "200 processes"])
@pytest.mark.parametrize("command", ["record", "profile", "cow", "check"])
def test_nobody_gets_one_screen_too(command, subject):
    skip_if_unreadable()
    check(command, subject, NOBODY)
