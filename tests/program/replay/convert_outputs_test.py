"""convert.py refuses an unreadable input, and an output that it must not replace. It prints one line and exits with
status 2. No data is lost.
"""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
from conftest import PAGE, SOURCE, zerotax
from waiting import wait_for

CONVERT = [sys.executable, SOURCE / "harness/program/replay/workloads" / "convert.py"]
TRACE = "= Start\n@ ./a:[0x1] + 0x1000 0x20\n= End\n"


def convert(*words, cwd):
    return subprocess.run([*CONVERT, *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def refused(done, *words):
    assert done.returncode == 2, done
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("convert.py: ") and not done.stdout, done
    for word in words:
        assert word in done.stderr


@pytest.fixture(name="here")
def folder_with_a_trace(tmp_path):
    (tmp_path / "m.txt").write_text(TRACE)
    return tmp_path


def test_a_recording_is_written_and_replaced(here):
    for _ in range(2):
        done = convert("m.txt", "o.calls", cwd=here)
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in here.iterdir()) == ["m.txt", "o.calls"]
    assert zerotax("replay", "o.calls", "--allocator", "glibc", cwd=here).returncode == 0


@pytest.mark.parametrize("output", ["m.txt", "./m.txt", "link", "hard"])
def test_its_own_input_is_never_replaced(here, output):
    (here / "link").symlink_to("m.txt")
    os.link(here / "m.txt", here / "hard")
    for force in ([], ["--force"]):
        refused(convert("m.txt", output, *force, cwd=here), "would overwrite")
    assert (here / "m.txt").read_text() == TRACE


@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_what_another_program_wrote_stays(here, mode):
    (here / "notes.txt").write_text("notes")
    (here / "notes.txt").chmod(mode)
    refused(convert("m.txt", "notes.txt", cwd=here), "notes.txt")
    assert (here / "notes.txt").read_text() == "notes"
    done = convert("m.txt", "notes.txt", "--force", cwd=here)
    assert (done.returncode == 0) == (mode == 0o644), "what can be executed is never replaced"


@pytest.mark.parametrize("trace", ["pipe", "/dev/zero", "folder", "none", "/proc/self/mem"])
def test_what_is_no_file_is_refused_at_once(here, trace):
    os.mkfifo(here / "pipe")
    (here / "folder").mkdir()
    refused(convert(trace, "o.calls", cwd=here), trace)
    assert not (here / "o.calls").exists()


@pytest.mark.parametrize("output", ["/proc/x", "none/o.calls", "folder", "m.txt/o.calls", "/dev/full"])
def test_what_cannot_be_written_is_one_line(here, output):
    (here / "folder").mkdir()
    refused(convert("m.txt", output, cwd=here), output)


def test_devices_and_pipes_are_written_in_place(here):
    assert convert("m.txt", "/dev/null", cwd=here).returncode == 0 and not os.path.isfile("/dev/null")
    done = subprocess.run([*CONVERT, "m.txt", "/dev/stdout"], cwd=here, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith(b"ZTXCALLS")
    os.mkfifo(here / "pipe")
    with subprocess.Popen(["cat", here / "pipe"], stdout=subprocess.PIPE) as reader:
        assert convert("m.txt", "pipe", cwd=here).returncode == 0
        assert reader.communicate(timeout=60)[0] == done.stdout
    refused(convert("m.txt", "pipe", cwd=here), "no process reads")


@pytest.mark.parametrize("line", [
    "1 1 free()", "1 1 calloc(5)=#1", "1 1 calloc()=#1", "1 1 realloc(#1)=#2", "1 1 realloc()=#2", "1 1 malloc()=#1",
    "1 1 malloc(-5)=#1", "1 1 malloc(x)=#1", "1 1 memalign(8)=#1", f"1 1 malloc({'9' * 30})=#1", f"1 1 malloc({'9' * 9000})=#1",
    "1 1 calloc(4294967296,4294967296)=#1", "\x00", "+ 0x1", "@ a + 0x1", f"= Start\n@ a + 0x1 0x{'f' * 17}", "= Start\n> 0x1"])
def test_a_broken_trace_is_one_line(here, line):
    (here / "broken").write_text(line + "\n")
    refused(convert("broken", "o.calls", cwd=here), "broken is not a trace")
    assert not (here / "o.calls").exists()


@pytest.mark.parametrize("words", [[], ["m.txt"], ["m.txt", "a", "b"], ["", "a"], ["m.txt", ""], ["--unknown"]])
def test_a_wrong_command_line_is_a_usage_error(here, words):
    done = convert(*words, cwd=here)
    assert done.returncode == 2 and done.stderr.startswith("usage: convert.py"), done
    assert [path.name for path in here.iterdir()] == ["m.txt"]


@pytest.fixture(name="converting")
def convert_for_long(here):
    """Starts a conversion and waits until it has read its trace and is far from the end."""
    (here / "large.txt").write_text(TRACE.replace("= End\n", "@ ./a:[0x1] + 0x1000 0x20\n") * 1_000_000)
    with subprocess.Popen([*CONVERT, "large.txt", "o.calls"], cwd=here, stderr=subprocess.PIPE, text=True) as run:
        def has_read():
            pages = int(pathlib.Path(f"/proc/{run.pid}/statm").read_text().split()[1])
            return pages * PAGE > (here / "large.txt").stat().st_size
        assert wait_for(has_read)
        yield run
        run.kill()


def test_a_kill_leaves_the_earlier_recording(here, converting):
    (here / "o.calls").write_bytes(b"ZTXCALLS of an earlier day")
    converting.kill()
    converting.wait()
    assert (here / "o.calls").read_bytes() == b"ZTXCALLS of an earlier day"


def test_an_interrupt_is_no_traceback(here, converting):
    converting.send_signal(signal.SIGINT)
    _, errors = converting.communicate(timeout=60)
    assert converting.returncode == 130 and errors == "convert.py: interrupted: nothing was written\n"
    assert not (here / "o.calls").exists()
