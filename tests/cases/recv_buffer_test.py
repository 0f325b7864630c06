"""A receive buffer: the bytes zeroed for each record received, and a server that never outlives its client."""

import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from allocators_here import available, library_of, only_version
from conftest import (
    BUILD, MIB, PAGE, ZEROTAX, clean_environment, csv_rows, measure, point_of, read_folder, zerotax)
from waiting import servers_of, wait_for

MB100 = 100_000_000
RECORD = 16_384
OPS = 6
SERVER = BUILD / "libexec" / "recv-server"
pytestmark = pytest.mark.skipif(not SERVER.exists(), reason="this build has no recv-server: install libssl-dev")


def pages(size):
    return -(-size // PAGE) * PAGE


def received(name, size, case="recv_buffer"):
    run = measure("--allocator", name, "--case", case, "--size", size, "--ops", OPS)
    return point_of(run, name, size_bytes=size)


def busy_servers(session):
    """Returns the servers that have used 0.1 s of CPU time, which is more than a handshake or an audit needs."""
    def ticks(pid):
        try:
            return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[11:13]))
        except OSError:
            return 0
    return [pid for pid in servers_of(session) if ticks(pid) >= 0.1 * os.sysconf("SC_CLK_TCK")]


def endless(*arguments):
    """Starts a run in its own session. Returns the run while it receives, and the run's server, which has sent for a
    while.
    """
    running = subprocess.Popen(
        [ZEROTAX, "run", "--case", "recv_buffer", "--size", "256KiB", "--ops", "100000", *arguments],
        env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    # Waits until the audit of a thousand operations, which comes first, is over.
    assert wait_for(lambda: busy_servers(running.pid), 200), "no server was started"
    return running, busy_servers(running.pid)[0]


@pytest.mark.parametrize("case", ["recv_buffer", "recv_buffer_tcp"])
@pytest.mark.parametrize("size", [MB100, pytest.param(1000 * MIB, marks=pytest.mark.long("1,000 MiB"))])
def test_glibc_zeroes_nothing_of_a_large_buffer_and_populates_what_is_received(case, size):
    point = received("glibc", size, case)
    transfer = point["transfer"]
    assert (point["zeroed_bytes"], transfer["received_bytes"]) == (0, RECORD)
    assert (transfer["zeroed_per_received_byte"], transfer["redundant_per_received_byte"]) == (0, 0)
    # The four pages contain only data. The fifth page contains the chunk's header and the first data, and faults inside
    # calloc.
    assert point["touch_faults"] == 4
    assert transfer["ops"] >= 1


@pytest.mark.long("100 MB for each record")
@available("largecache")
@pytest.mark.parametrize("case", ["recv_buffer", "recv_buffer_tcp"])
def test_largecache_zeroes_the_whole_100_mb_for_each_record(case):
    point = received("largecache", MB100, case)
    transfer = point["transfer"]
    assert point["zeroed_bytes"] == pages(MB100)
    assert point["redundant_zeroed_bytes"] == pages(MB100) - RECORD
    assert transfer["zeroed_per_received_byte"] == pages(MB100) / RECORD
    assert transfer["redundant_per_received_byte"] == (pages(MB100) - RECORD) / RECORD
    # The handshake is over before the first operation, which begins at the first large calloc of the process.
    assert [entry["zeroed_bytes"] for entry in point["first_ops"]] == [0] + [pages(MB100)] * (OPS - 1)


@pytest.mark.long("1,000 MiB")
@available("largecache")
def test_largecache_zeroes_nothing_of_1000_mib():
    point = received("largecache", 1000 * MIB)
    assert (point["zeroed_bytes"], point["transfer"]["zeroed_per_received_byte"]) == (0, 0)


@pytest.mark.long("another allocator")
@only_version("mimalloc", "2.0.9")
def test_mimalloc_zeroes_all_of_100_mb():
    point = received("mimalloc", MB100)
    assert point["zeroed_bytes"] == point["redundant_zeroed_bytes"] >= MB100
    assert point["transfer"]["redundant_per_received_byte"] == point["zeroed_bytes"] / RECORD


@pytest.mark.parametrize("case", ["recv_buffer", "recv_buffer_tcp"])
def test_a_buffer_smaller_than_a_record_receives_what_fits(case):
    assert received("glibc", 1000, case)["transfer"]["received_bytes"] == 1000


@pytest.mark.long("a TLS transfer more")
def test_a_worker_receives_as_the_main_thread_does():
    point = received("glibc", MB100)["transfer"]
    run = measure("--allocator", "glibc", "--case", "recv_buffer", "--size", MB100, "--ops", OPS, "--thread", "worker")
    assert point_of(run, "glibc")["transfer"]["received_bytes"] == point["received_bytes"]


def test_other_cases_have_no_transfer_and_the_table_and_csv_show_it_where_there_is_one(tmp_path):
    out = tmp_path / "out"
    done = zerotax(
        "run", "--allocator", "glibc", "--case", "calloc_loop", "--case", "recv_buffer", "--size", "1MiB", "--ops",
        OPS, "--full", "--out", out)
    assert done.returncode == 0, done.stderr
    _, points = read_folder(out)
    assert ["transfer" in point for point in points] == [False, True]
    assert [bool(row["mb_per_s"]) for row in csv_rows(out)] == [False, True]
    assert csv_rows(out)[1]["received_bytes"] == str(RECORD)
    assert "MB/s" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "MB/s" not in zerotax("run", "--allocator", "glibc", "--size", "1MiB", "--ops", OPS).stdout


def test_the_probe_is_still_a_benchmark_program():
    done = subprocess.run(
        [BUILD / "bin" / "bench-glibc", "--benchmark_filter=^recv_buffer/1048576/touch:0$", "--benchmark_format=json",
         "--benchmark_min_time=0.01"], env=clean_environment(), capture_output=True, text=True, check=True)
    [row] = json.loads(done.stdout)["benchmarks"]
    assert row["bytes_per_second"] > 0 and "error_occurred" not in row


def test_a_killed_server_is_a_failed_point_that_says_so():
    running, server = endless("--allocator", "glibc", "--json", "-")
    os.kill(server, signal.SIGKILL)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 1, err
    [point] = json.loads(out)["points"]
    assert point["status"] == "failed"
    assert "the server sent no more" in point["reason"] and "operation" in point["reason"]
    assert not servers_of(running.pid)


@pytest.mark.long("the audit of a thousand operations again")
@available("largecache")
def test_the_server_has_neither_the_preloaded_allocator_nor_any_environment():
    running, server = endless(
        "--allocator", f"mine={library_of('largecache')}", "--env", "mine:LARGECACHE_ENTRIES=4")
    proc = pathlib.Path("/proc") / str(server)
    assert (proc / "environ").read_text() == ""
    assert "largecache" not in (proc / "maps").read_text()
    descriptors = {os.readlink(entry) for entry in (proc / "fd").iterdir()}
    assert not any("zerotax-samples" in name for name in descriptors)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert not servers_of(running.pid)


def test_a_point_that_times_out_leaves_no_server():
    done = subprocess.Popen(
        [ZEROTAX, "run", "--case", "recv_buffer", "--size", "100MB", "--ops", "100000", "--allocator", "glibc",
         "--timeout", "0.5", "--json", "-"],
        env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    out, _ = done.communicate(timeout=60)
    assert json.loads(out)["points"][0]["status"] == "timeout"
    assert not servers_of(done.pid)


@pytest.mark.long("waits for what is left running")
def test_a_run_that_is_killed_leaves_no_server():
    running, _ = endless("--allocator", "glibc")
    running.kill()
    running.communicate(timeout=60)
    assert wait_for(lambda: not servers_of(running.pid))


@pytest.fixture(name="build")
def own_build(tmp_path):
    """Returns the folders of a build that contains a probe."""
    for name in ("bin", "libexec"):
        (tmp_path / name).mkdir()
    shutil.copy(BUILD / "bin" / "bench-glibc", tmp_path / "bin")
    return tmp_path


@pytest.mark.parametrize(("server", "reason"), [
    (None, "its server does not exist"),
    ("#!/bin/sh\nexit 3\n", "its server ended before it was ready"),
    ("#!/bin/sh\necho port=1\necho\nread line\n", "no connection to the server"),
    ("#!/bin/sh\necho hello\necho\nread line\n", "the server reported no port"),
])
def test_a_server_that_does_not_serve_is_a_failed_point_with_the_reason(build, server, reason):
    if server is not None:
        (build / "libexec" / "recv-server").write_text(server)
        (build / "libexec" / "recv-server").chmod(0o755)
    run = measure(
        "--allocator", "glibc", "--case", "recv_buffer", "--size", "1MiB", status=1, ZEROTAX_PROBE_DIR=str(build / "bin"))
    [point] = run["points"]
    assert point["status"] == "failed" and point["ops"] == 0
    assert reason in point["reason"] and "while the case was set up" in point["reason"]
    assert "na" in point["transfer"]["mb_per_s"] and "na" in point["zeroed_bytes"]


def test_tls_is_not_spoken_with_a_server_whose_certificate_is_not_its_own(build):
    """Combines two servers: sends the greeting of the first server, with the port of the second."""
    shutil.copy(BUILD / "libexec" / "recv-tls.so", build / "libexec")
    (build / "libexec" / "recv-server").write_text(f"""#!/bin/sh
mkfifo {build}/hold {build}/other
{SERVER} tls <{build}/hold >{build}/other &
exec 3>{build}/hold 4<{build}/other
read port <&4
{SERVER} tls </dev/stdin | sed -u "s/^port=.*/$port/"
""")
    (build / "libexec" / "recv-server").chmod(0o755)
    run = measure(
        "--allocator", "glibc", "--case", "recv_buffer", "--size", "1MiB", status=1, ZEROTAX_PROBE_DIR=str(build / "bin"))
    assert "the TLS handshake failed" in run["points"][0]["reason"]
