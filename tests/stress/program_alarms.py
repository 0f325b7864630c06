"""How often `zerotax check -- COMMAND` gives a false alarm: ten unchanged programs against baselines of their own.

usage: program_alarms.py FILE.json [--checks N] [--neighbours N] [--program NAME]...

First all checks on a machine that is idle but for them, then as many beside busy processes. The file is rewritten after
each check: a run that is broken off keeps what it has.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from check_alarms import ZEROTAX, check_in_both_states

SOURCE = Path(__file__).resolve().parents[2]
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
# A server with a load, which ends it. Its socket is a file: no port is taken.
REDIS = """
redis-server --port 0 --unixsocket "$1/redis.sock" --save '' --dir "$1" >/dev/null &
until redis-cli -s "$1/redis.sock" ping >/dev/null 2>&1; do sleep 0.05; done
redis-benchmark -s "$1/redis.sock" -q -n 5000 -c 1 -d 10000 -r 100 -t set,get >/dev/null
redis-cli -s "$1/redis.sock" shutdown nosave
wait
"""
THREADS = """
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>
int main() {
  std::vector<std::thread> threads;
  std::vector<std::size_t> sizes(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&sizes, t] {
      for (int round = 0; round < 20; ++round) {
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


def programs(work: Path) -> dict[str, list[str]]:
    """The commands by name; what they read is written to the folder `work`."""
    for name, text in (("numpy_rounds.py", NUMPY), ("parse.py", PARSING), ("statements.sql", STATEMENTS), ("buffers.js", BUFFERS),
                       ("words.pl", WORDS), ("redis.sh", REDIS), ("threads.cc", THREADS)):
        (work / name).write_text(text)
    subprocess.run(["c++", "-std=c++20", "-O1", "-g", "-pthread", "-o", work / "threads", work / "threads.cc"], check=True)
    (work / "input").write_bytes(b"".join(f"line {i * 7919 % 10007} of the input\n".encode() for i in range(200_000)))
    repository = work / "repository"
    git = ["git", "-C", str(repository), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "init", "-q", repository], check=True)
    for i in range(30):
        for k in range(20):
            (repository / f"file{k}").write_text("".join(f"line {n * (i + k) % 101}\n" for n in range(400)))
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", f"Step {i}"], check=True)
    sources = [str(path) for path in sorted((SOURCE / "tests" / "history").glob("*.py"))]
    return {
        "gcc": ["c++", "-std=c++20", "-O2", "-S", "-o", "/dev/null", str(work / "threads.cc")],
        "git": ["git", "-C", str(repository), "log", "-p", "--stat", "--no-color"],
        "sqlite3": ["sqlite3", ":memory:", f".read {work / 'statements.sql'}"],
        "python3": [PYTHON, str(work / "parse.py"), *sources],
        "node": ["node", str(work / "buffers.js")],
        "redis": ["sh", str(work / "redis.sh"), str(work)],
        "xz": ["xz", "-c", "-k", "-1", "-T1", str(work / "input")],
        "threads": [str(work / "threads")],
        "numpy": [PYTHON, str(work / "numpy_rounds.py")],
        "perl": ["perl", str(work / "words.pl")],
    }


def check(name: str, command: list[str], baseline: Path) -> dict:
    """One check, as check_alarms.summary wants it."""
    start = time.monotonic()
    done = subprocess.run([ZEROTAX, "check", "--baseline", baseline, "--name", name, "--json", "-", "--", *command],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"program_alarms: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return {
        "alarm": [change["line"] for change in found["changes"]],
        "not_compared": sorted({f"{entry['why']}: {entry['name']}" for entry in found["not_compared"]}),
        "seconds": round(time.monotonic() - start, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--checks", type=int, default=18)
    parser.add_argument("--neighbours", type=int, default=4)
    parser.add_argument("--program", action="append")
    options = parser.parse_args()
    found = {"schema": "zerotax.program_alarms/1", "neighbours": options.neighbours, "programs": []}
    with tempfile.TemporaryDirectory() as folder:
        baseline = Path(folder) / "programs.json"
        commands = programs(Path(folder))
        entries = {}
        for name in options.program or commands:
            subprocess.run([ZEROTAX, "bless", "--baseline", baseline, "--name", name, "--", *commands[name]], check=True,
                           stdout=subprocess.DEVNULL)
            made = json.loads(baseline.read_text())["programs"][-1]
            # What lies in the temporary folder has another path each time.
            words = [word.replace(folder, "DIR") for word in made["command"]]
            entries[name] = {"program": name, "command": words, "runs": made["runs"], "kernel": made["measured_on"]["kernel"]}
            found["programs"].append(entries[name])
        check_in_both_states(options, found, {
            name: (entry, lambda each=name: check(each, commands[each], baseline)) for name, entry in entries.items()})
    return int(any(entry[state]["alarms"] for entry in entries.values() for state in ("idle", "loaded")))


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_GLOBAL", "/dev/null")
    sys.exit(main())
