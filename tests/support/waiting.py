"""Helpers to start other processes and to wait for them."""

import pathlib
import socket
import time


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def servers_of(session):
    """Returns the running recv-servers of a session (setsid), by process ID."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name, rest = (folder / "stat").read_text(errors="replace").split("(", 1)[1].rsplit(") ", 1)
        except (OSError, IndexError):
            continue
        state, _, _, its_session = rest.split()[:4]
        if name == "recv-server" and state != "Z" and int(its_session) == session:
            found.append(int(folder.name))
    return found


def children_named(session, name):
    """Returns the processes of a session (setsid) whose command lines contain this name, as folders of /proc."""
    return [folder for folder in pathlib.Path("/proc").glob("[0-9]*") if _is_of(folder, session, name)]


def _is_of(folder, session, name):
    try:
        return int((folder / "stat").read_text(errors="replace").rsplit(") ", 1)[1].split()[3]) == session \
            and name in (folder / "cmdline").read_text(errors="replace")
    except OSError:
        return False
