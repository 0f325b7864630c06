#!/bin/sh
# Runs the programs of docs/examples/programs/ under zerotax cow. docs/cow.md shows the pages that they copied.
#
#   docs/examples/cow.sh FOLDER     writes bigarray_python.json, bigarray_ruby.json and prefork.json, and the output of each
#                                   program (.txt), to FOLDER
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
zerotax=$PWD/build/bin/zerotax
work=$(mktemp -d)
watcher=
trap 'rm -rf "$work"; [ -z "$watcher" ] || kill "$watcher" 2>/dev/null || true' EXIT

command -v ruby >/dev/null || { echo "cow.sh: ruby is missing: install ruby" >&2; exit 2; }
# Standard output contains only the program's output.
$zerotax cow --interval 0.25 --json "$folder/bigarray_python.json" -- /usr/bin/python3 docs/examples/programs/bigarray.py \
  >"$folder/bigarray_python.txt" 2>/dev/null
$zerotax cow --interval 0.25 --json "$folder/bigarray_ruby.json" -- ruby docs/examples/programs/bigarray.rb \
  >"$folder/bigarray_ruby.txt" 2>/dev/null

# Sends requests that each make a worker write to 25 pages, until every worker has answered a request.
cc -O2 -o "$work/prefork" docs/examples/programs/prefork.c
$zerotax cow --interval 0.25 --json "$folder/prefork.json" -- "$work/prefork" 8192 4 >"$work/said" 2>/dev/null &
watcher=$!
while ! grep -q http "$work/said"; do sleep 0.05; done
url=$(sed -n 's/.* on \(http[^ ]*\) .*/\1/p' "$work/said")
/usr/bin/python3 - "$url" >"$folder/prefork.txt" <<'TEXT'
import sys
import urllib.request

last = {}
for _ in range(400):
    with urllib.request.urlopen(f"{sys.argv[1]}/25") as answer:
        text = answer.read().decode()
    last[text.split()[1]] = text
sys.stdout.writelines(last.values())
TEXT
kill -TERM "$(sed -n 's/^prefork \([0-9]*\) .*/\1/p' "$work/said")"
wait "$watcher"
watcher=
