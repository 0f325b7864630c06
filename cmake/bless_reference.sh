#!/bin/sh
# Measures results/reference anew and puts its numbers into README.md. The old one stays until the new one is complete.
set -eu
cd "$(dirname "$0")/.."
new=results/reference.new
rm -rf "$new"
build/bin/zerotax study --out "$new"
[ -f "$new/thresholds_map.png" ] || { echo "bless: the figures are missing" >&2; exit 2; }
grep -q '"state": "complete"' "$new/run.json" || { echo "bless: the run was interrupted" >&2; exit 2; }
for benchmark in zero-time meter-overhead record-overhead recorder; do
  "build/bin/benchmark-$benchmark" >"$new/benchmark-$benchmark.txt"
done
sizes=
for size in 16KiB 64KiB 256KiB 1MiB 4MiB 16MiB 64MiB 100MB 128MiB 256MiB 1000MiB; do sizes="$sizes --size $size"; done
# shellcheck disable=SC2086  # the words are meant to be split
build/bin/zerotax run --case recv_buffer --case recv_buffer_tcp --ops 6 $sizes --json "$new/recv_buffer.json" >/dev/null
/usr/bin/python3 plots/recv_buffer.py "$new/recv_buffer.json" >/dev/null
build/bin/zerotax profile --allocator largecache --size 100MiB --least 2 --out "$new/profile-largecache.txt"
build/bin/zerotax clients --json "$new/clients.json" >/dev/null
rm -rf results/reference
mv "$new" results/reference
exec python3 results/update_readme.py
