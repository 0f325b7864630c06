#!/bin/sh
# Makes the outputs in README.md (run), docs/record.md (record), docs/cow.md (cow) and docs/tour.md (record, cow, check).
#
#   docs/examples/tour.sh FOLDER [NAME]...   writes run.txt, record.txt, cow.txt, check.md and check.txt to FOLDER
#
# Without a name, the script runs all: run record cow check. check needs the planted allocators, which ./run test builds.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- run record cow check
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=${ZEROTAX_BUILD:-$PWD/build}
PATH=$build/bin:$PATH

run() { zerotax run --allocator glibc --allocator jemalloc --allocator mimalloc --size 20MiB --size 100MiB >"$folder/run.txt"; }

# record and cow leave standard output to the program. Exit status 1 of record means that record found redundant
# zeroing.
record() {
  zerotax record -- /usr/bin/python3 -c 'for _ in range(100): bytearray(20_000_000)' 2>"$folder/record.txt" || [ $? = 1 ]
}

cow() { (cd docs/examples && zerotax cow --every-fault -- /usr/bin/python3 server.py 2>"$folder/cow.txt"); }

# Compares two versions of an allocator: calloc of the second writes zeros over fresh memory, so the exit status is 1.
check() {
  cp "$build/tests/planted/libplanted_never.so" "$work/libmine.so"
  (cd "$work" && zerotax bless --allocator mine=./libmine.so --baseline mine.json --size 64KiB --size 1MiB >bless.txt)
  cp "$build/tests/planted/libplanted_zeroes_fresh.so" "$work/libmine.so"
  (cd "$work" && zerotax check --allocator mine=./libmine.so --baseline mine.json --markdown "$folder/check.md" \
    >"$folder/check.txt") || [ $? = 1 ]
}

for name in "$@"; do
  case "$name" in
    run | record | cow | check) "$name" ;;
    *)
      echo "tour.sh: unknown name '$name' (choose: run record cow check)" >&2
      exit 2
      ;;
  esac
done
