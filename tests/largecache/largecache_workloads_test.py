"""Common programs run a whole workload under liblargecache.so. The programs must pass their own checks, or print the
same output as without the library. largecache_workloads_more_test.py has further workloads.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import time

import pytest

from preloading import each_knobs, environment, is_built, needs, run, succeed

pytestmark = is_built


@each_knobs
def test_python_passes_tests_of_its_own(knobs):
    for python in (sys.executable, shutil.which("python3")):
        if run([python, "-c", "import test.test_bytes"], preload=False).returncode == 0:
            break
    else:
        pytest.skip("no python3 here has its test suite (Debian: libpython3-testsuite)")
    tests = ["test_array", "test_buffer", "test_mmap", "test_memoryio"]
    assert b"Tests result: SUCCESS" in succeed([python, "-m", "test", *tests], **knobs)


CXX_PROGRAM = """
#include <iostream>
#include <numeric>
#include <string>
#include <vector>
int main() {
  std::vector<std::vector<int>> rows;
  for (int i = 0; i < 300; ++i) {
    rows.emplace_back(100'000 + i * 100);
    for (int value : rows.back()) if (value != 0) return 1;
    std::iota(rows.back().begin(), rows.back().end(), i);
    if (rows.size() > 7) rows.erase(rows.begin() + i % 7);
  }
  long sum = 0;
  for (auto& row : rows) sum = std::accumulate(row.begin(), row.end(), sum);
  std::cout << sum << '\\n';
}
"""


@needs("g++")
@each_knobs
def test_gcc_compiles_a_program_that_runs(tmp_path, knobs):
    (tmp_path / "rows.cc").write_text(CXX_PROGRAM)
    succeed(["g++", "-std=c++20", "-O2", "-o", "rows", "rows.cc"], cwd=tmp_path, **knobs)
    plain = run([tmp_path / "rows"], preload=False)
    assert plain.returncode == 0 and plain.stdout
    assert succeed([tmp_path / "rows"], **knobs) == plain.stdout


@needs("git")
@each_knobs
def test_git_clones_packs_and_checks(tmp_path, knobs):
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"]
    origin = tmp_path / "origin"
    origin.mkdir()
    succeed([*git, "init", "-q"], cwd=origin, **knobs)
    text = "".join(hashlib.sha256(str(i).encode()).hexdigest() + "\n" for i in range(40_000))
    for change in range(4):
        (origin / "lines").write_text(text[change * 6500:])
        (origin / f"file{change}").write_bytes(hashlib.sha512(bytes([change])).digest() * 20_000)
        succeed([*git, "add", "."], cwd=origin, **knobs)
        succeed([*git, "commit", "-q", "-m", f"Change {change}"], cwd=origin, **knobs)
    succeed([*git, "clone", "-q", "--no-local", origin, "copy"], cwd=tmp_path, **knobs)
    copy = tmp_path / "copy"
    succeed([*git, "gc", "-q", "--aggressive", "--prune=now"], cwd=copy, **knobs)
    succeed([*git, "fsck", "--full", "--strict"], cwd=copy, **knobs)
    log = [*git, "--no-pager", "log", "-p", "--stat"]
    assert succeed(log, cwd=copy, **knobs) == run(log, preload=False, cwd=origin).stdout


class Redis:
    """A preloaded redis-server with a socket of its own."""

    def __init__(self, folder, knobs):
        self.socket = folder / "redis.sock"
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", folder, "--save", "",
             "--enable-debug-command", "yes", "--daemonize", "no"],
            env=environment(True, **knobs), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(200):
            if self.socket.exists() and self.ask("PING") == "PONG":
                return
            time.sleep(0.05)
        self.process.kill()
        raise AssertionError("redis-server does not answer:\n" + self.process.communicate()[0].decode(errors="replace"))

    def ask(self, *words):
        done = subprocess.run(["redis-cli", "-s", self.socket, *words], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.strip()

    def stop(self):
        self.ask("SHUTDOWN", "NOSAVE")
        said = self.process.communicate(timeout=60)[0].decode(errors="replace")
        return self.process.returncode, said


@needs("redis-server")
@needs("redis-benchmark")
@each_knobs
def test_redis_saves_in_a_child_while_it_is_written_to_and_reads_it_back(tmp_path, knobs):
    redis = Redis(tmp_path, knobs)
    try:
        maps = open(f"/proc/{redis.process.pid}/maps", encoding="utf-8").read()
        assert "liblargecache.so" in maps
        benchmark = ["redis-benchmark", "-s", redis.socket, "-q", "-c", "8", "-r", "40"]
        subprocess.run([*benchmark, "-t", "set,get", "-n", "1500", "-d", "200000"], check=True, capture_output=True, timeout=120)
        assert "started" in redis.ask("BGSAVE")
        subprocess.run([*benchmark, "-t", "set,lpush,hset", "-n", "1500", "-d", "50000"], check=True, capture_output=True,
                       timeout=120)
        for _ in range(300):
            if "rdb_bgsave_in_progress:0" in redis.ask("INFO", "persistence"):
                break
            time.sleep(0.05)
        assert "rdb_last_bgsave_status:ok" in redis.ask("INFO", "persistence")
        before = redis.ask("DEBUG", "DIGEST")
        assert re.fullmatch("[0-9a-f]{40}", before)
        assert redis.ask("DEBUG", "RELOAD") == "OK"
        assert redis.ask("DEBUG", "DIGEST") == before
    finally:
        status, said = redis.stop()
    assert status == 0, said
    assert "REDIS BUG REPORT" not in said and "largecache:" not in said
