"""zerotax top at a terminal redraws in place, reacts to keys, and restores the terminal."""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import BUILD, INTERRUPTED_BY_SIGINT, INTERRUPTED_BY_SIGTERM, ZEROTAX, clean_environment
from waiting import wait_for

WATCHED = BUILD / "tests" / "recorded" / "watched"
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
CURSOR = "\x1b[?25h"
SEQUENCE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")


class Terminal:
    """A zerotax top at a pseudo-terminal, and the screen that it draws."""

    def __init__(self, *words, rows=24, columns=80, stdin=None, term="xterm"):
        self.rows, self.columns = rows, columns
        self.main, inner = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(inner)
        self.inner = inner
        self.said = ""

        # The session leader stays alive, because the terminal loses its settings when the leader ends.
        line = """trap "" INT TERM HUP; "$0" top "$@"; echo "status $?"; sleep 600"""
        self.leader = subprocess.Popen(
            ["sh", "-c", line, ZEROTAX, *map(str, words)], stdin=inner if stdin is None else stdin, stdout=inner, stderr=inner,
            env=clean_environment(TERM=term), start_new_session=True, preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0))
        assert wait_for(self.child)
        self.pid = self.child()

    def child(self):
        found = pathlib.Path(f"/proc/{self.leader.pid}/task/{self.leader.pid}/children").read_text().split()
        return int(found[0]) if found else None

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.05):
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0 and select.select([self.main], [], [], rest)[0]:
            try:
                self.said += os.read(self.main, 65536).decode(errors="replace")
            except OSError:
                break

    def type(self, keys):
        os.write(self.main, keys.encode())

    def frames(self):
        """Returns everything drawn so far, split at each return to the upper left corner."""
        return self.said.split("\x1b[H")[1:]

    def screen(self):
        """Returns the lines of the last complete frame, without escape sequences."""
        whole = [frame for frame in self.frames() if "\x1b[J" in frame]
        return [SEQUENCE.sub("", line) for line in whole[-1].split("\x1b[J")[0].replace("\r", "").split("\n")] if whole else []

    def wait_for(self, found, seconds=30):
        """Waits until the screen satisfies `found`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            if found("\n".join(self.screen())):
                return self.screen()
        raise AssertionError("\n".join(self.screen()) or self.said)

    def wait_for_text(self, text):
        return self.wait_for(lambda screen: text in screen)

    def end(self):
        end = time.monotonic() + 30
        while not (found := re.search(r"status (\d+)\r", self.said)):
            assert time.monotonic() < end, self.said[-500:]
            self.read()
        return int(found.group(1))

    def is_restored(self):
        return termios.tcgetattr(self.inner) == self.before and self.said.rfind(LEAVE) > self.said.rfind(ENTER) \
            and self.said.rfind(CURSOR) > self.said.rfind("\x1b[?25l")

    def close(self):
        os.killpg(self.leader.pid, signal.SIGKILL)
        self.leader.wait()
        os.close(self.main)
        os.close(self.inner)


@contextlib.contextmanager
def terminal(*words, **how):
    made = Terminal("--interval", "0.2", *words, **how)
    try:
        yield made
    finally:
        made.close()


@contextlib.contextmanager
def watched(*words):
    with subprocess.Popen([WATCHED, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "started\n"
        try:
            yield program
        finally:
            program.kill()


@pytest.mark.parametrize("size", [(24, 80), (10, 40), (50, 132), (5, 20)])
def test_every_frame_fits_the_terminal(size):
    rows, columns = size
    with terminal(rows=rows, columns=columns) as top:
        top.wait_for(lambda _: len(top.frames()) >= 4)
        for frame in top.frames()[:-1]:
            lines = frame.split("\x1b[J")[0].replace("\r", "").split("\n")
            assert len(lines) <= rows
            assert all(len(SEQUENCE.sub("", line)) <= columns for line in lines), lines
        assert ENTER in top.said and "\x1b[2J" not in top.said.split(ENTER, 1)[1].replace("\x1b[2J", "", 1), "it would flicker"
        assert ("user" in "\n".join(top.screen())) == (columns >= 100)


@pytest.mark.parametrize(("how", "status"), [
    ("q", 0), ("\x03", INTERRUPTED_BY_SIGINT), (signal.SIGTERM, INTERRUPTED_BY_SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)])
def test_the_terminal_is_left_as_it_was(how, status):
    with terminal() as top:
        top.wait_for_text("own cost")
        assert termios.tcgetattr(top.inner) != top.before
        if isinstance(how, str):
            top.type(how)
        else:
            os.kill(top.pid, how)
        assert top.end() == status
        assert top.is_restored()


def test_a_stopped_top_gives_the_terminal_back_and_takes_it_again():
    with terminal() as top:
        top.wait_for_text("own cost")
        # The process group is orphaned, so it would ignore a stop by the terminal, but not SIGSTOP.
        os.kill(top.pid, signal.SIGSTOP)
        before = len(top.frames())
        os.kill(top.pid, signal.SIGCONT)
        top.wait_for(lambda _: len(top.frames()) > before)
        assert top.said.count(ENTER) == 2
        top.type("q")
        assert top.end() == 0 and top.is_restored()


def test_ctrl_z_in_a_shell():
    """In a shell with job control, the process group is not orphaned, so Ctrl+Z stops zerotax top."""
    main, inner = pty.openpty()
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=inner, stdout=inner, stderr=inner,
                          start_new_session=True, env=clean_environment(TERM="xterm", PS1="ready> "),
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as shell:
        said = ""

        def wait(text, seconds=30):
            nonlocal said
            end = time.monotonic() + seconds
            while text not in said:
                assert time.monotonic() < end, said
                if select.select([main], [], [], 0.1)[0]:
                    said += os.read(main, 65536).decode(errors="replace")
            said = said.split(text, 1)[1]

        wait("ready> ")
        os.write(main, f"'{ZEROTAX}' top --interval 0.2\n".encode())
        wait("own cost")
        os.write(main, b"\x1a")
        wait(LEAVE)
        wait("Stopped")
        wait("ready> ")
        os.write(main, b"echo echoed\n")
        wait("echo echoed")
        os.write(main, b"fg\n")
        wait(ENTER)
        wait("own cost")
        os.write(main, b"q")
        wait(LEAVE)
        wait("ready> ")
        os.write(main, b"exit 0\n")
        shell.wait(30)
    os.close(main)
    os.close(inner)


def test_a_window_of_another_size_is_filled():
    with terminal() as top:
        top.wait_for_text("own cost")
        top.resize(12, 120)
        os.kill(top.pid, signal.SIGWINCH)
        top.wait_for(lambda screen: "children/s" in screen)
        assert len(top.screen()) <= 12


def test_keys_sort_group_and_filter():
    with watched("crowd", 12, "sleeps here") as program, terminal() as top:
        top.wait_for_text("sorted by faults")
        for key, column in (("z", "zeroed"), ("r", "refilled"), ("c", "cpu"), ("m", "rss"), ("p", "pid"), ("f", "faults")):
            top.type(key)
            top.wait_for_text(f"by process, sorted by {column}")
        top.type("/sleeps")
        top.wait_for_text("filter (Enter applies, Esc clears): sleeps")
        top.type("x\x7f\n")
        screen = top.wait_for(lambda screen: "filter 'sleeps'" in screen and str(program.pid) in screen)
        rows = [line for line in screen if re.match(r" *\d+ ", line)]
        assert len(rows) == 13 and all(line.endswith("sleeps he…") or "sleeps h" in line for line in rows), screen
        for by in ("user", "cgroup", "command"):
            top.type("b")
            top.wait_for_text(f"by {by}, sorted by faults")
        top.wait_for(lambda screen: re.search(r"^ *13 .*sleeps here$", screen, re.M))
        top.type("\n")
        top.wait_for_text("of sleeps here")
        top.type("\x1b")
        top.wait_for(lambda screen: "of sleeps here" not in screen and "filter 'sleeps'" not in screen)


def test_details_of_a_process():
    with watched("refill", 5000, "refills") as program, terminal("--pid", program.pid) as top:
        top.wait_for_text("refills")
        top.type("\n")
        screen = "\n".join(top.wait_for(lambda screen: "anonymous" in screen and "faults/s" in screen))
        assert re.search(rf"^process {program.pid} of \w+, child of {os.getpid()}: 1 thread$", screen, re.M)
        assert f"{WATCHED} refill 5000"[:80] in screen
        assert re.search(r"^ *19\.5 MiB +0 B +19\.5 MiB ", screen, re.M), "its 5,000 pages, the largest mapping"
        assert all(f"zerotax {command} --pid {program.pid}" in screen for command in ("record", "profile", "cow"))
        program.stdin.write("work\n")
        program.stdin.flush()
        top.wait_for(lambda screen: re.search(rf"^ *{program.pid} +[1-9][\d,]+ +\d+ % refills$", screen, re.M))
        top.type("\x1b")
        top.wait_for_text("sorted by faults")
        top.type("j\x1b[A\x1b[B\x1bOB")
        top.type("q")
        assert top.end() == 0 and top.is_restored()


def test_details_of_a_process_that_ends():
    with watched("name", 1, "ends") as program, terminal("--filter", "ends") as top:
        top.wait_for_text(f"{program.pid}")
        top.type("\n")
        top.wait_for_text(f"process {program.pid} of")
        program.kill()
        program.wait()
        top.wait_for_text(f"process {program.pid} has ended")
        top.type("q")
        top.wait_for_text("sorted by")


def test_without_a_keyboard_it_is_drawn_all_the_same():
    with terminal(stdin=subprocess.DEVNULL) as top:
        top.wait_for_text("no keys: standard input is not this terminal")
        os.kill(top.pid, signal.SIGINT)
        assert top.end() == INTERRUPTED_BY_SIGINT


@pytest.mark.parametrize("words", [(["--once"], "xterm"), (["--samples", "2"], "dumb")])
def test_tables_without_a_screen(words):
    arguments, term = words
    with terminal(*arguments, term=term) as top:
        assert top.end() == 0
        assert "\x1b" not in top.said and "own cost" in top.said
