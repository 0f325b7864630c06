"""zerotax cow counts the copies of real servers. redis and the kernel give the second counts."""

import json
import pathlib
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

import pytest
from conftest import MIB, PAGE, ZEROTAX, check_schema, clean_environment, is_na, mostly_long
from waiting import free_port, wait_for
from watching import as_root

pytestmark = [as_root, pytest.mark.timeout(300)]
APPLICATION = """
DATA = [{"id": number, "tags": [number, number + 1]} for number in range(60_000)]
def app(environ, start):
    body = str(sum(each["id"] for each in DATA[:30_000])).encode()
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def watched(folder, *command):
    # A pipe that nobody reads would stop cow.
    with open(folder / "err", "wb") as err:
        return subprocess.Popen([ZEROTAX, "cow", "--interval", "0.5", "--every-fault", "--json", folder / "cow.json",
                                 "--faults", folder / "faults", "--", *map(str, command)], cwd=folder,
                                env=clean_environment(), stdout=subprocess.DEVNULL, stderr=err)


def report_of(folder, run):
    assert run.wait(timeout=120) == 0, (folder / "err").read_text()
    report = json.loads((folder / "cow.json").read_text())
    check_schema(report, "cow")
    assert report["totals"]["lost"] == 0
    return report


def servers(port):
    """Returns the PIDs of gunicorn's processes, the first process first."""
    found = subprocess.run(["pgrep", "-f", f"^/usr/bin/python3 .*:{port}"], capture_output=True, text=True, check=False)
    return sorted(map(int, found.stdout.split()))


def pss(pid):
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


@pytest.mark.skipif(any(shutil.which(tool) is None for tool in ("redis-server", "redis-cli", "redis-benchmark")),
                    reason="redis is missing: run ./run install")
def test_copies_of_a_saving_redis_are_those_that_redis_counts(tmp_path):
    port = free_port()

    def ask(*words):
        return subprocess.run(["redis-cli", "-p", str(port), *words], capture_output=True, text=True, check=True).stdout

    # The delay makes the save last for more than a second.
    run = watched(tmp_path, "redis-server", "--port", port, "--save", "", "--dir", tmp_path, "--enable-debug-command", "local",
                  "--rdb-key-save-delay", 20)
    assert wait_for(lambda: is_open(port))
    assert ask("debug", "populate", "100000", "key", "100") == "OK\n"
    assert "started" in ask("bgsave")
    subprocess.run(["redis-benchmark", "-p", str(port), "-t", "set", "-r", "100000", "-n", "5000", "-d", "100", "-q"],
                   stdout=subprocess.DEVNULL, check=True)
    assert wait_for(lambda: "rdb_bgsave_in_progress:0" in ask("info", "persistence"))
    counted = next(int(line.split(":")[1]) for line in ask("info", "persistence").splitlines()
                   if line.startswith("rdb_last_cow_size:"))
    ask("shutdown", "nosave")
    report = report_of(tmp_path, run)
    [child] = [process["pid"] for process in report["processes"] if process["parent"] != 0]
    faults = [json.loads(line) for line in (tmp_path / "faults").read_text().splitlines()]
    own = [fault for fault in faults if fault["pid"] == child]
    # The parent may copy pages before the child's first fault, but copies none before the fork.
    begin, end = own[0]["time_ns"] - 50_000_000, own[-1]["time_ns"]
    lost = sum(fault["copied_bytes"] for fault in faults if begin <= fault["time_ns"] <= end)
    new = sum(fault["zeroed_bytes"] for fault in own)
    # redis reports the child's private memory: pages that the parent copied away from it, its own copies, and new memory.
    assert counted > MIB and abs(lost + new - counted) <= 20 * PAGE, (lost, new, counted)
    assert [(fork["way"], fork["processes"]) for fork in report["forks"]] == [("fork", 1)]


@pytest.mark.skipif(any(shutil.which(tool) is None for tool in ("gunicorn", "pgrep")), reason="run ./run install")
@pytest.mark.parametrize("workers, seconds", mostly_long([(2, 3), (4, 60)], [(2, 3)], "a minute of requests"))
def test_memory_of_preforked_workers_is_the_kernels(tmp_path, workers, seconds):
    (tmp_path / "application.py").write_text(APPLICATION)
    port = free_port()
    began = time.monotonic()
    run = watched(tmp_path, "/usr/bin/python3", shutil.which("gunicorn"), "--preload", "-w", workers, "-b", f"127.0.0.1:{port}",
                  "application:app")
    assert wait_for(lambda: len(servers(port)) == 1 + workers and is_open(port))
    end = time.monotonic() + seconds

    def load():
        while time.monotonic() < end:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                answer.read()

    threads = [threading.Thread(target=load) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(15)  # cow reads the memory rarely, because the reading delays the workers
    elapsed = time.monotonic() - began
    kernel = {pid: pss(pid) for pid in servers(port)}
    subprocess.run(["kill", str(min(kernel))], check=True)
    report = report_of(tmp_path, run)
    # The workers copy pages when they end.
    last = [each for each in report["intervals"] if each["to_s"] < elapsed and "pss_bytes" in each["pss"]][-1]
    assert {process["pid"] for process in last["processes"]} == set(kernel)
    assert abs(last["pss"]["pss_bytes"] - sum(kernel.values())) <= 0.02 * sum(kernel.values())
    assert last["pss"]["uncopied_bytes"] < last["pss"]["pss_bytes"]
    assert all(process["sharing"]["copied_bytes"] > MIB for process in last["processes"] if process["child"])
    assert not any(is_na(process["sharing"]["shared_bytes"]) for process in last["processes"])
