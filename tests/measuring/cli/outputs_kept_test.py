"""A file that is written in parts replaces the earlier file only at the end. A kill or a full disk leaves the earlier
file unchanged.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from conftest import BUILD, SOURCE, ZEROTAX, clean_environment, zerotax
from waiting import wait_for

RECORDING = SOURCE / "harness/program/replay/workloads" / "xz.calls"
FORKS = BUILD / "tests" / "recorded" / "forks"
# The earlier contents of each output, and the command that writes it until the command is stopped.
FAULT = '{"time_ns":1,"class":"copy"}\n'
SAMPLE = '{"schema":"zerotax.top/1"}\n'
LONG = {
    "calls": (["record", "--text", "/dev/null", "--calls", "FILE", "--", "sh", "-c", "echo begun; exec sleep 60"], None),
    "faults": (["cow", "--json", "/dev/null", "--faults", "FILE", "--", "sh", "-c", "echo begun; exec sleep 60"], FAULT),
}


def begin(words, cwd):
    """Starts a command in a session of its own. Returns as soon as the command measures."""
    run = subprocess.Popen([ZEROTAX, *words], cwd=cwd, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True, start_new_session=True)
    assert run.stdout.readline()
    return run


def opens_a_file_in(pid, folder):
    for path in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            if str(folder) in os.readlink(path):
                return True
        except FileNotFoundError:
            pass
    return False


def end(run):
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    run.wait()
    run.stdout.close()


@pytest.fixture(name="earlier", params=LONG)
def earlier_file(request, tmp_path):
    """The words of a command, and the file that the command must not replace before its end."""
    words, text = LONG[request.param]
    file = tmp_path / "file"
    if text is None:
        shutil.copy(RECORDING, file)
    else:
        file.write_text(text)
    file.chmod(0o644)
    return [word.replace("FILE", str(file)) for word in words], file


def test_a_kill_leaves_the_earlier_file(tmp_path, earlier):
    words, file = earlier
    before = file.read_bytes()
    run = begin(words, tmp_path)
    try:
        assert file.read_bytes() == before, "it is truncated while the program runs"
    finally:
        end(run)
    assert file.read_bytes() == before


def test_an_interrupt_keeps_what_was_finished(tmp_path, earlier):
    words, file = earlier
    before = file.read_bytes()
    run = begin(words, tmp_path)
    try:
        os.killpg(run.pid, signal.SIGINT)
        run.communicate(timeout=60)
    finally:
        end(run)
    assert file.read_bytes() != before and [path.name for path in tmp_path.iterdir()] == ["file"]
    if "record" in words:
        done = zerotax("replay", file, "--allocator", "glibc", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    else:
        for line in file.read_text().splitlines():
            json.loads(line)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_leaves_the_earlier_recording(tmp_path):
    # The filler is only twice as large as the small disk. If that disk could not be mounted, the filler would not fill
    # another disk.
    script = f"""mkdir disk && mount -t tmpfs -o size=16k tmpfs disk && cd disk && cp {RECORDING} file || exit 9
head -c 32768 /dev/zero >filler 2>/dev/null
{ZEROTAX} record --text /dev/null --calls file -- /bin/ls /; echo "status $?"
cmp {RECORDING} file && ls"""
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script], cwd=tmp_path,
                          env=clean_environment(), capture_output=True, text=True, check=False, timeout=60)
    if done.returncode == 9:
        pytest.skip(done.stderr)
    assert "No space left" in done.stderr and "status 0" not in done.stdout and done.stdout.endswith("file\nfiller\n"), done


def test_faults_that_found_no_room_are_beside_the_earlier_ones(tmp_path):
    file = tmp_path / "file"
    file.write_text(FAULT)
    done = zerotax("cow", "--faults", file, "--json", "/dev/stdout", "--", FORKS, 20000, 5, 5, 5,
                   prefix=["prlimit", f"--fsize={1 << 20}"])
    assert done.returncode == 2, done.stderr
    assert file.read_text() == FAULT
    kept, = (path for path in tmp_path.iterdir() if path != file)
    assert json.loads(done.stdout)["faults_file"]["path"] == str(kept)
    for line in kept.read_text().splitlines():
        json.loads(line)


def test_samples_replace_earlier_ones_once_there_is_one(tmp_path):
    file = tmp_path / "file"
    file.write_text(SAMPLE)
    run = subprocess.Popen([ZEROTAX, "top", "--interval", "1000", "--json", file], env=clean_environment(),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert wait_for(lambda: opens_a_file_in(run.pid, tmp_path))
    run.kill()
    run.wait()
    assert file.read_text() == SAMPLE
    run = begin(["top", "--interval", "0.1", "--json", str(file)], tmp_path)
    end(run)
    lines = file.read_text().splitlines()
    assert lines and all(json.loads(line)["schema"] == "zerotax.top/1" and len(line) > len(SAMPLE) for line in lines)


@pytest.mark.parametrize("target", ["/dev/full", "/dev/null"])
def test_devices_are_written_in_place(tmp_path, target):
    done = zerotax("record", "--force", "--text", "/dev/null", "--calls", target, "--", "/bin/ls", "/", cwd=tmp_path)
    assert (done.returncode == 0) == (target == "/dev/null"), done.stderr
    assert not list(tmp_path.iterdir()) and not os.path.isfile(target)


def test_a_folder_that_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    for option, command in (("--calls", "record"), ("--faults", "cow")):
        done = zerotax(command, option, tmp_path / "none" / "file", "--", "touch", tmp_path / "ran")
        assert done.returncode == 2 and "No such file" in done.stderr and not (tmp_path / "ran").exists()


def test_a_link_stays(tmp_path):
    (tmp_path / "link").symlink_to("file")
    shutil.copy(RECORDING, tmp_path / "file")
    done = zerotax("record", "--text", "/dev/null", "--calls", "link", "--", "/bin/ls", "/", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() != RECORDING.read_bytes()


def test_a_pipe_is_written_while_the_program_runs(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        done = zerotax("record", "--text", "/dev/null", "--calls", tmp_path / "pipe", "--", "/bin/ls", "/")
        data, _ = reader.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    assert data.startswith(b"ZTXCALLS")


def test_a_log_does_not_become_an_earlier_part_that_is_not_ours(tmp_path):
    """FILE.1 is created in the middle of a run. If a file with that name has appeared since the start, that file is
    kept.
    """
    words = [ZEROTAX, "top", "--log", "log", "--log-size", "64KiB", "--interval", "0.05"]
    with subprocess.Popen(words, cwd=tmp_path, env=clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as run:
        assert wait_for(lambda: (tmp_path / "log").exists() and (tmp_path / "log").stat().st_size > 0)
        (tmp_path / "log.1").write_text("my own\n")
        _, errors = run.communicate(timeout=300)
    assert run.returncode == 2 and "log.1 would replace a file" in errors
    assert (tmp_path / "log.1").read_text() == "my own\n"
