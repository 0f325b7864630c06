#!/bin/sh
# What README.md (run), docs/record.md (record) and docs/cow.md (cow) show.
#
#   docs/examples/tour.sh FOLDER     writes run.txt, record.txt and cow.txt to FOLDER
set -eu
cd "$(dirname "$0")/../.."
folder=$1
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$PWD/build/bin:$PATH

zerotax run --allocator glibc --allocator jemalloc --allocator mimalloc --size 20MiB --size 100MiB >"$folder/run.txt"

# These two leave standard output to the program. 1: it found redundant zeroing.
zerotax record -- /usr/bin/python3 -c 'for _ in range(100): bytearray(20_000_000)' 2>"$folder/record.txt" || [ $? = 1 ]

cat >"$work/server.py" <<'TEXT'
import os
data = bytearray(b"x" * 64_000_000)
done, ready = os.pipe()
if os.fork() == 0:
    os.close(ready)
    os._exit(len(os.read(done, 1)))  # until the parent has written
data[::4096] = bytes(len(data[::4096]))
os.close(ready)
os.wait()
TEXT
zerotax cow -- /usr/bin/python3 "$work/server.py" 2>"$folder/cow.txt"
