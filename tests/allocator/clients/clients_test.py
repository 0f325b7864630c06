"""Unmodified Python clients under each allocator: if the allocator zeroes, their buffers become resident, and otherwise
they stay small.
"""

import json
import pathlib
import signal
import subprocess

import pytest
from conftest import BUILD, INTERRUPTED_BY_SIGINT, PAGE, ZEROTAX, check_schema, clean_environment, zerotax
from allocators_here import available, library_of, only_version
from answers import check_screen
from waiting import servers_of, wait_for

MB100 = 100_000_000
RECORD = 16_384
# Limit for the resident set of a Python with libssl, its small buffers, and no resident large buffer.
SMALL = 60_000_000
CLIENTS = ["cffi_new", "cffi_no_clear", "pyopenssl_recv", "requests_chunks", "requests_pyopenssl", "requests_2016"]
PAGES_PER_MB = (MB100 // PAGE) / (RECORD / 1e6)   # a buffer of 100 MB is faulted in completely for each record
pytestmark = pytest.mark.skipif(
    not (BUILD / "libexec" / "recv-server").exists(), reason="this build has no recv-server: install libssl-dev")


def run_clients(*arguments, status=0, **environment):
    """Runs `zerotax clients` with these arguments. Returns the command's checked document."""
    done = zerotax("clients", *arguments, "--json", "-", **environment)
    assert done.returncode == status, done.stderr or done.stdout[:2000]
    document = json.loads(done.stdout)
    check_schema(document, "clients")
    return document


def result_of(document, client, allocator):
    [found] = [r for r in document["results"] if (r["client"], r["allocator"]) == (client, allocator)]
    if found["status"] == "skipped":
        pytest.skip(found["reason"])
    assert found["status"] == "ok", found["reason"]
    return found


def options(name, values):
    return [word for value in values for word in (f"--{name}", str(value))]


@pytest.fixture(scope="module")
def receiving():
    """Clients that call recv themselves, at 100 MB, under two allocators that zero and one that does not."""
    names = ["glibc", "largecache", "mimalloc"]
    return run_clients(*options("allocator", names), *options("client", CLIENTS[:3]), "--size", MB100)


@pytest.mark.long("every client under three allocators")
@available("largecache")
def test_a_buffer_of_cffi_is_zeroed_whole_under_largecache_and_not_under_glibc(receiving):
    assert result_of(receiving, "cffi_new", "largecache")["max_resident_bytes"] > MB100
    assert result_of(receiving, "cffi_new", "glibc")["max_resident_bytes"] < SMALL


@pytest.mark.long("every client under three allocators")
@only_version("mimalloc", "2.0.9")
def test_under_mimalloc_each_page_of_it_is_a_fault_for_each_record(receiving):
    assert result_of(receiving, "cffi_new", "mimalloc")["faults_per_mb"] >= PAGES_PER_MB
    assert result_of(receiving, "cffi_no_clear", "mimalloc")["faults_per_mb"] < PAGES_PER_MB / 100


@pytest.mark.long("a client more under each allocator")
def test_cffi_1_9_clears_the_whole_buffer_for_each_record_whatever_calloc_would_do(receiving):
    """In 2016 the download was slow on every system, even under glibc: CFFI, not calloc, cleared the buffer."""
    old = result_of(run_clients("--allocator", "glibc", "--client", "cffi_1_9", "--size", MB100), "cffi_1_9", "glibc")
    new = result_of(receiving, "cffi_new", "glibc")
    assert old["max_resident_bytes"] > MB100 and old["faults_per_mb"] >= PAGES_PER_MB
    assert new["max_resident_bytes"] < SMALL and new["faults_per_mb"] < PAGES_PER_MB / 100


@pytest.mark.long("a whole download")
def test_the_download_of_2016_clears_as_much_as_was_asked_for():
    """The size is above 256 MiB, the amount that current versions of urllib3 request at a time."""
    size = 300 << 20
    document = run_clients("--allocator", "glibc", "--client", "requests_2016", "--size", size)
    found = result_of(document, "requests_2016", "glibc")
    assert found["max_resident_bytes"] > size
    assert found["faults_per_mb"] >= 0.99 * (size // PAGE) / (RECORD / 1e6)
    assert found["versions"].keys() == {"cffi", "pyOpenSSL", "requests", "urllib3"}


@pytest.mark.long("every client under three allocators")
@pytest.mark.parametrize("allocator", ["glibc", pytest.param("largecache", marks=available("largecache")),
                                       pytest.param("mimalloc", marks=available("mimalloc"))])
@pytest.mark.parametrize("client", ["cffi_no_clear", "pyopenssl_recv"])
def test_without_clearing_no_allocator_has_the_buffer_resident(receiving, client, allocator):
    """Since version 17, pyOpenSSL asks CFFI not to clear."""
    assert result_of(receiving, client, allocator)["max_resident_bytes"] < SMALL


@pytest.mark.long("every client under three allocators")
def test_the_case_stands_beside_them_and_shows_the_same(receiving):
    zeroed = {point["allocator"]: point["transfer"]["zeroed_per_received_byte"] for point in receiving["points"]}
    assert zeroed["glibc"] == 0 and zeroed["largecache"] > 6000 and zeroed["mimalloc"] > 6000


@pytest.mark.long("a whole download")
def test_requests_receives_whole_chunks_with_each_tls():
    document = run_clients("--allocator", "glibc", *options("client", CLIENTS[3:]), "--size", "1MiB")
    for client in CLIENTS[3:5]:
        found = result_of(document, client, "glibc")
        assert found["received_bytes"] == found["ops"] * 2**20
    found = result_of(document, "requests_2016", "glibc")
    assert found["received_bytes"] <= found["ops"] * RECORD


@available("largecache")
def test_any_library_can_be_preloaded_with_its_environment():
    document = run_clients(
        "--allocator", f"mine={library_of('largecache')}", "--env", "mine:LARGECACHE_ENTRIES=0", "--client", "cffi_new",
        "--size", MB100)
    # Without a cache, every block comes fresh from the kernel.
    assert result_of(document, "cffi_new", "mine")["max_resident_bytes"] < SMALL
    assert document["results"][0]["preload"] == library_of("largecache")


def test_the_table_has_a_row_for_each_allocator_and_at_most_80_columns():
    words = ["clients", "--allocator", "glibc", *options("client", CLIENTS[:2]), "--size", "1MiB"]
    done = zerotax(*words, "--full")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    head = lines.index("MB/s received into buffers of 1 MiB")
    assert " receives " in lines[0] or lines[0].startswith("No client was measured"), lines[0]
    assert [line.split()[0] for line in lines[head + 2:head + 4]] == ["allocator", "glibc"]
    assert all(len(line) <= 80 for line in lines)
    done = zerotax(*words, NO_COLOR="1")
    assert done.returncode == 0, done.stderr
    check_screen(done.stdout.splitlines())
    assert "MB/s received into buffers" not in done.stdout


def with_cffi(folder, text):
    """Returns an environment in which `import cffi` imports this text."""
    (folder / "cffi.py").write_text(text)
    return {"PYTHONPATH": str(folder)}


def run_broken(folder, text, *arguments, status=1):
    document = run_clients(
        "--allocator", "glibc", "--client", "cffi_new", "--size", "1MiB", *arguments, status=status,
        **with_cffi(folder, text))
    [found] = document["results"]
    assert set(found["mb_per_s"]) == {"na"}
    return found["status"], found["reason"]


def test_a_missing_module_is_not_available_and_names_its_package(tmp_path):
    status, reason = run_broken(tmp_path, "raise ImportError\n", status=0)
    assert (status, reason) == ("skipped", "no python3 has cffi (apt-get install python3-cffi)")


def test_a_client_that_fails_says_what_it_said(tmp_path):
    status, reason = run_broken(
        tmp_path, "__version__ = '0'\ndef FFI():\n    raise RuntimeError('out of order')\n")
    assert (status, reason) == ("failed", "exited with status 1: RuntimeError: out of order")


def test_a_client_that_crashes_or_hangs_says_so_and_leaves_no_server(tmp_path):
    crash = "import os\n__version__ = '0'\ndef FFI():\n    os.kill(os.getpid(), 11)\n"
    assert run_broken(tmp_path, crash) == ("crashed", "killed by SIGSEGV")
    hang = "import time\n__version__ = '0'\ndef FFI():\n    time.sleep(1000)\n"
    running = subprocess.Popen(
        [ZEROTAX, "clients", "--allocator", "glibc", "--client", "cffi_new", "--size", "1MiB", "--timeout", "3",
         "--json", "-"], env=clean_environment(**with_cffi(tmp_path, hang)), stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE, start_new_session=True)
    out, _ = running.communicate(timeout=60)
    [found] = json.loads(out)["results"]
    assert (found["status"], found["reason"]) == ("timeout", "not done after 3 s")
    assert not servers_of(running.pid)


def runs(session, script):
    """Returns whether the command line of a process in the session has this script."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text(errors="replace").rsplit(") ", 1)[1].split()[3]) == session \
                    and script in (folder / "cmdline").read_text(errors="replace"):
                return True
        except OSError:
            pass
    return False


def test_when_interrupted_it_writes_what_was_finished_and_leaves_nothing_running(tmp_path):
    hang = "import time\n__version__ = '0'\ndef FFI():\n    time.sleep(1000)\n"
    running = subprocess.Popen(
        [ZEROTAX, "clients", "--allocator", "glibc", *options("client", ["requests_chunks", "cffi_new"]), "--size",
         "1MiB", "--json", tmp_path / "clients.json"],
        env=clean_environment(**with_cffi(tmp_path, hang)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True)
    assert wait_for(lambda: runs(running.pid, "cffi_new.py"))
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == INTERRUPTED_BY_SIGINT and "interrupted" in err
    document = json.loads((tmp_path / "clients.json").read_text())
    check_schema(document, "clients")
    assert (document["state"], [r["client"] for r in document["results"]]) == ("interrupted", ["requests_chunks"])
    assert not servers_of(running.pid) and not runs(running.pid, "cffi_new.py")


@pytest.mark.long("every client under three allocators")
def test_nothing_is_written_beside_the_scripts(receiving):
    scripts = pathlib.Path(__file__).parents[3] / "cases" / "recv_buffer" / "clients"
    assert sorted(path.suffix for path in scripts.iterdir()) == [".py"] * len(list(scripts.glob("*.py")))
