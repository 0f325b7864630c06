"""Twelve real programs, each with a task, for trying zerotax. The files *.calls are their recordings."""
from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[4]
PYTHON = "/usr/bin/python3"

NUMPY = """
import numpy as np
for i in range(40):
    a = np.zeros((512, 1024))
    b = a + i
    c = np.fft.rfft(b[0])
print(c.shape)
"""
PARSING = """
import ast, sys
for path in sys.argv[1:]:
    tree = ast.parse(open(path, encoding='utf-8').read())
    print(path, sum(1 for _ in ast.walk(tree)))
"""
STATEMENTS = """
CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, text TEXT);
WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 30000)
  INSERT INTO item SELECT i, i * 7919 % 50021, 'the text of number ' || i * 31 % 1009 FROM number;
CREATE INDEX item_kind ON item(kind);
SELECT text, count(*) FROM item GROUP BY text ORDER BY 2 DESC, 1 LIMIT 5;
"""
BUFFERS = """
let sum = 0;
for (let i = 0; i < 60; ++i) sum += Buffer.alloc(1 << 20).length;
const rows = [];
for (let i = 0; i < 50000; ++i) rows.push({ id: i, text: "row " + i });
console.log(sum, rows.sort((a, b) => b.id - a.id)[0].text);
"""
WORDS = """
my %count;
for my $i (1 .. 200000) { $count{ ($i * 7919) % 5003 } .= "word $i;" if $i % 3; }
print scalar(keys %count), "\\n";
"""
# A server with clients. The last client ends the server. The socket is a file, so the server needs no port.
REDIS = """
redis-server --port 0 --unixsocket "$1/redis.sock" --save '' --dir "$1" >/dev/null &
until redis-cli -s "$1/redis.sock" ping >/dev/null 2>&1; do sleep 0.05; done
redis-benchmark -s "$1/redis.sock" -q -n 5000 -c 1 -d 10000 -r 100 -t set,get >/dev/null
redis-cli -s "$1/redis.sock" shutdown nosave
wait
"""
THREADS = """
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>
int main(int, char** words) {
  const int rounds = std::atoi(words[1]);
  std::vector<std::thread> threads;
  std::vector<std::size_t> sizes(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&sizes, rounds, t] {
      for (int round = 0; round < rounds; ++round) {
        std::vector<char> block(2 << 20, 'x');
        std::map<int, std::string> map;
        for (int i = 0; i < 5000; ++i) map[i * 7919 % 10007] = std::string(static_cast<std::size_t>(i % 100), 'y');
        sizes[static_cast<std::size_t>(t)] += map.size() + block.size();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%zu\\n", sizes[0] + sizes[3]);
}
"""


# Four workers answer requests from a queue. Each worker keeps the answers of its last hundred requests.
SERVICE = """
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Request { int number; std::vector<char> body; };
std::mutex mutex;
std::condition_variable ready;
std::deque<Request> queue;
bool closed = false;
void work(std::size_t* sum) {
  std::deque<std::vector<char>> kept;
  for (;;) {
    std::unique_lock lock(mutex);
    ready.wait(lock, [] { return closed || !queue.empty(); });
    if (queue.empty()) return;
    Request request = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    std::string line;
    for (int i = 0; i < 100; ++i) line += std::to_string(request.number * i) + ",";
    kept.emplace_back(static_cast<std::size_t>(200'000 + request.number * 7919 % 300'000), 'a');
    if (kept.size() > 100) kept.pop_front();
    *sum += line.size() + request.body.size() + kept.back().size();
  }
}
int main() {
  std::vector<std::size_t> sums(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) threads.emplace_back(work, &sums[i]);
  for (int i = 0; i < 2000; ++i) {
    Request request{i, std::vector<char>(static_cast<std::size_t>(1000 + i * 31 % 5000), 'b')};
    const std::lock_guard lock(mutex);
    queue.push_back(std::move(request));
    ready.notify_one();
  }
  { const std::lock_guard lock(mutex); closed = true; }
  ready.notify_all();
  for (std::thread& thread : threads) thread.join();
  std::printf("%zu\\n", sums[0] + sums[1] + sums[2] + sums[3]);
}
"""
# A server that forks for each of its clients, as PostgreSQL does. The children inherit the server's data.
FORKS = """
my %kept = map { ("key $_" => "value " x ($_ % 40)) } 1 .. 4000;
for my $client (1 .. 8) {
    my $pid = fork // die;
    if (!$pid) {
        my @rows = map { [$_, $kept{"key $_"}] } 1 .. 700 + 140 * $client;
        my $text = join ',', map { "$_->[0]:$_->[1]" } @rows;
        exit(length($text) > 0 ? 0 : 1);
    }
    waitpid($pid, 0);
    die if $?;
}
print scalar(keys %kept), "\\n";
"""


def programs(work: Path) -> dict[str, list[str]]:
    """Returns the commands by name. Writes the input of the commands to the folder `work`."""
    texts = {"numpy_rounds.py": NUMPY, "parse.py": PARSING, "statements.sql": STATEMENTS, "buffers.js": BUFFERS,
             "words.pl": WORDS, "redis.sh": REDIS, "threads.cc": THREADS, "service.cc": SERVICE, "forks.pl": FORKS}
    for name, text in texts.items():
        (work / name).write_text(text)
    for name in ("threads", "service"):
        subprocess.run(["c++", "-std=c++20", "-O1", "-g", "-pthread", "-o", work / name, work / f"{name}.cc"], check=True)
    (work / "input").write_bytes(b"".join(f"line {i * 7919 % 10007} of the input\n".encode() for i in range(200_000)))
    repository = work / "repository"
    git = ["git", "-C", str(repository), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "init", "-q", repository], check=True)
    for i in range(30):
        for k in range(20):
            (repository / f"file{k}").write_text("".join(f"line {n * (i + k) % 101}\n" for n in range(400)))
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", f"Step {i}"], check=True)
    sources = [str(path) for path in sorted((SOURCE / "tests" / "regression" / "bisect").glob("*.py"))]
    return {
        "gcc": ["c++", "-std=c++20", "-O1", "-S", "-o", "/dev/null", str(work / "threads.cc")],
        "git": ["git", "-C", str(repository), "log", "-p", "--stat", "--no-color"],
        "sqlite3": ["sqlite3", ":memory:", f".read {work / 'statements.sql'}"],
        "python3": [PYTHON, str(work / "parse.py"), *sources],
        "node": ["node", str(work / "buffers.js")],
        "redis": ["sh", str(work / "redis.sh"), str(work)],
        "xz": ["xz", "-c", "-k", "-1", "-T1", str(work / "input")],
        "threads": [str(work / "threads"), "3"],
        "numpy": [PYTHON, str(work / "numpy_rounds.py")],
        "perl": ["perl", str(work / "words.pl")],
        "service": [str(work / "service")],
        "forks": ["perl", str(work / "forks.pl")],
    }
