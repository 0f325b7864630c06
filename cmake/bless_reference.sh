#!/bin/sh
# usage: cmake/bless_reference.sh [PART]...
#
# Measures results/reference again, or the named parts of it, and puts the numbers into the pages. The old files of a part stay until
# the part is complete.
set -eu
cd "$(dirname "$0")/.."
zerotax=build/bin/zerotax
python=/usr/bin/python3

# Each part is a function with the part's name. The function writes into the folder $1.
all_parts="study refill loop benchmarks recv_buffer clients fork_after_calloc fork snapshot contract cow profile policies programs bill advise frontier production tour stress reports compare crossover check_alarms program_alarms attachments workloads releases machines outside_overhead report_page prove"

study() {
  rm -rf "$1/study"
  # The page is not kept, because plots/write_page.py makes it from the other files of results/reference.
  $zerotax study --out "$1/study"
  [ -f "$1/study/thresholds_map.png" ] || { echo "bless: the figures are missing" >&2; exit 2; }
  grep -q '"state": "complete"' "$1/study/run.json" || { echo "bless: the run was interrupted" >&2; exit 2; }
  # Programs that show findings compute the findings from the points, so this file is not kept.
  rm -f "$1/study/findings.json"
  mv "$1/study/"* "$1"
  rmdir "$1/study"
}

benchmarks() {
  for name in zero-time meter-overhead record-overhead fault-tracer-cost fault-tracer-rate recorder; do
    # Exit status 1 means that a metric is outside its limits, perhaps because the machine is busy. The file names the
    # metric.
    "build/bin/benchmark-$name" >"$1/benchmark-$name.txt" || [ $? = 1 ] || exit
    grep -E " over|undecided|  off|!$" "$1/benchmark-$name.txt" | sed "s/^/bless: benchmark-$name: /" >&2 || true
  done
}

sizes() { for size in "$@"; do printf -- '--size %s ' "$size"; done; }

recv_buffer() {
  # shellcheck disable=SC2046  # the words are meant to be split
  $zerotax run --case recv_buffer --case recv_buffer_tcp --ops 6 --json "$1/recv_buffer.json" \
    $(sizes 16KiB 64KiB 256KiB 1MiB 4MiB 16MiB 64MiB 100MB 128MiB 256MiB 1000MiB) >/dev/null
  $python plots/recv_buffer.py "$1/recv_buffer.json" >/dev/null
}

clients() {
  $zerotax clients --json "$1/clients.json" >/dev/null
  # The download with the published sizes.
  # shellcheck disable=SC2046
  $zerotax clients --client cffi_1_9 --client cffi_new --client requests_2016 --allocator glibc --json "$1/clients_2016.json" \
    $(sizes 10MB 100MB 1GB) >/dev/null
}

refill() {
  $zerotax run --case refill_loop --touch 1 --size 1MiB --json "$1/refill_loop.json" >/dev/null
  keep="--env glibc:MALLOC_TRIM_THRESHOLD_=1073741824 --env glibc:MALLOC_MMAP_THRESHOLD_=1073741824"
  # shellcheck disable=SC2086  # the words are meant to be split
  $zerotax run --case refill_loop --touch 1 --size 1MiB --allocator glibc $keep --json "$1/refill_loop_kept.json" >/dev/null
}

loop() { $zerotax run --loop --json "$1/loop.json" >"$1/loop.txt"; }

fork_after_calloc() {
  # shellcheck disable=SC2046
  $zerotax run --case fork_after_calloc --case fork_after_calloc_huge --ops 4 --touch 0 --touch 1 \
    --json "$1/fork_after_calloc.json" $(sizes 256KiB 1MiB 4MiB 16MiB 64MiB 256MiB 1GiB) >/dev/null
  $python plots/fork_after_calloc.py "$1/fork_after_calloc.json" >/dev/null
}

fork() {
  $zerotax fork --thorough --json "$1/fork.json" >/dev/null
  $python plots/fork.py "$1/fork.json" >/dev/null
}

snapshot() {
  $zerotax snapshot --full --json "$1/snapshot.json" >"$1/snapshot.txt"
  $zerotax snapshot --full --size 256MiB --remedies --json "$1/snapshot_remedies.json" >"$1/snapshot_remedies.txt"
  $zerotax snapshot --full --published --json "$1/snapshot_published.json" >"$1/snapshot_published.txt"
  $zerotax snapshot --full --sweep usual --json "$1/snapshot_sweep.json" >"$1/snapshot_sweep.txt"
  $python plots/fork_snapshot.py "$1/snapshot.json" >/dev/null
}

# Takes five minutes on this kernel, under emulators and in virtual machines.
contract() { $python tests/kernel/contract/environments.py "$1/contract"; }

# Writes into a separate folder, because the page of a study has no part for cow.json.
cow() {
  docs/examples/cow.sh "$1/cow"
  $python plots/cow.py "$1/cow/bigarray_python.json" --out "$1/cow" >/dev/null
}

policies() {
  # Exit status 1 means that a promise is broken. The file names the promise.
  build/bin/benchmark-policies --json "$1/policies.json" >"$1/benchmark-policies.txt" || [ $? = 1 ] || exit
  $python plots/policies.py "$1/policies.json" >/dev/null
}

programs() {
  # Exit status 1 means that a promise is broken. The file names the promise.
  build/bin/benchmark-programs --json "$1/programs.json" >"$1/benchmark-programs.txt" || [ $? = 1 ] || exit
  $python plots/programs.py "$1/programs.json" >/dev/null
}

# Exit status 1 means that a program failed. The file names the program.
bill() {
  docs/bill/bill.py --out "$1/bill" || [ $? = 1 ] || exit
  mv "$1/bill/bill.json" "$1" && rm -rf "$1/bill"
  $python plots/bill.py "$1/bill.json" >/dev/null
}

tour() { docs/examples/tour.sh "$1/tour"; }

advise() { docs/examples/advise.sh "$1/advise"; }

# Takes half an hour: five searches for each of five programs.
frontier() { docs/examples/advise.sh --frontier 5 "$1/frontier"; }

production() { docs/examples/production.sh "$1/production"; }

report_page() { $python tests/benchmarks/report_page/open_time.py >"$1/benchmark-report-page.txt" || [ $? = 1 ] || exit; }

profile() { $zerotax profile --allocator largecache --size 100MiB --least 2 --text "$1/profile-largecache.txt"; }

# Allocates a TiB with calloc and reads every byte. The program fails at the first byte that is not zero.
stress() { build/tests/largecache_stress --bytes 1099511627776 >"$1/stress-largecache.txt"; }

# Prints the names of the built allocators.
allocators() { for probe in build/bin/bench-*; do printf '%s\n' "${probe#build/bin/bench-}"; done; }

reports() {
  for allocator in $(allocators); do
    # Only projects with a tracker get reports.
    grep -qs '"tracker": "https' "allocators/$allocator/upstream.json" || continue
    # Exit status 1 means that a finding was not reproduced. The reports of all other findings are written.
    $zerotax report --allocator "$allocator" --severity low --out "$1/reports/$allocator" || [ $? = 1 ] || exit
  done
  # The differences between glibc's arenas appear only if blocks have no mappings of their own.
  tunables=GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824
  $zerotax report --allocator glibc --env glibc:$tunables --finding glibc-worker-differs-20MiB \
    --out "$1/reports/glibc-mmap_threshold"
}

compare() {
  for name in $(allocators); do
    # Exit status 1 means that there was a false alarm. The file reports the alarm.
    build/bin/benchmark-compare-alarms --allocator "$name" --json "$1/compare-self-test-$name.json" >/dev/null ||
      [ $? = 1 ] || exit
  done
}

crossover() {
  $zerotax compare tcmalloc jemalloc --along touch --size 1MiB --json "$1/crossover.json" >"$1/crossover.txt"
}

# Takes forty minutes: ten checks of each allocator on an idle machine, and ten beside busy processes.
check_alarms() { $python tests/stress/check_alarms.py "$1/check-alarms.json"; }

program_alarms() { $python tests/stress/program_alarms.py "$1/program-alarms.json"; }

workloads() {
  $python harness/program/replay/workloads/accuracy.py "$1/replay-accuracy.json"
  $zerotax replay harness/program/replay/workloads --json "$1/workloads.json" >/dev/null
  $python plots/workloads.py "$1/workloads.json" >/dev/null
}

# Takes ten minutes, and needs a mirror of Debian.
releases() {
  mkdir "$1/releases"
  for allocator in glibc jemalloc mimalloc tbbmalloc tcmalloc; do
    # shellcheck disable=SC2046
    $zerotax history --debian $allocator --no-thresholds $(sizes 64KiB 1MiB 20MiB 100MiB) --out "$1/releases/$allocator"
  done
  $python plots/releases.py "$1/releases" >/dev/null
}

# Takes forty minutes, and needs QEMU and a mirror of Debian.
machines() { $python tests/benchmarks/machines/machines.py "$1/machines.json"; }

# Takes ten minutes, and needs root.
outside_overhead() { $python tests/benchmarks/outside_overhead/overhead.py >"$1/benchmark-outside-overhead.txt"; }

# Takes twelve minutes: a thousand processes run once watched and once unwatched.
attachments() { $python tests/stress/attachments.py >"$1/attachments.txt"; }

# Takes four hours, and needs a mirror of Debian. The files of mimalloc are kept, because they need its sources.
prove() {
  mkdir "$1/prove"
  cp results/reference/prove/mimalloc* results/reference/prove/test_stress.txt "$1/prove"
  # Exit status 1 means that the benchmark is outside its limits, or that an allocator broke a promise, which the file shows.
  $python tests/benchmarks/prove_rates/prove_rates.py --json "$1/prove/rates.jsonl" >"$1/prove/rates.txt" || [ $? = 1 ]
  words=
  for policy in libmalloc-116 libmalloc-283 xzone-792 unmap purge memset dirty adaptive; do
    words="$words --allocator $policy=build/lib/liblargecache.so --env $policy:LARGECACHE_POLICY=$policy"
  done
  # shellcheck disable=SC2086  # the words are meant to be split
  $zerotax prove $words --seconds 450 --json "$1/prove/largecache.json" >/dev/null || [ $? = 1 ]
  words=
  # Later packages of jemalloc, tcmalloc and tbbmalloc need a newer C library.
  for package in bullseye/libjemalloc2 bookworm/libjemalloc2 trixie/libjemalloc2 bullseye/libtcmalloc-minimal4 \
    bookworm/libtcmalloc-minimal4 bullseye/libtbb2 bookworm/libtbbmalloc2 bookworm/libmimalloc2.0 trixie/libmimalloc3 \
    sid/libmimalloc3; do
    words="$words --allocator $(basename "$package")-$(dirname "$package")=deb:$package"
  done
  # shellcheck disable=SC2086
  $zerotax prove $words --seconds 60 --json "$1/prove/debian.json" >/dev/null || [ $? = 1 ]
}

# shellcheck disable=SC2086  # the words are meant to be split
[ $# -gt 0 ] || set -- $all_parts
for part in "$@"; do
  case " $all_parts " in
    *" $part "*) ;;
    *)
      echo "bless: unknown part '$part' (choose: $all_parts)" >&2
      exit 2
      ;;
  esac
done
for part in "$@"; do
  new=results/reference.new
  rm -rf "$new"
  mkdir "$new"
  echo "bless: $part" >&2
  "$part" "$new"
  for entry in "$new"/*; do
    rm -rf "results/reference/$(basename "$entry")"
    mv "$entry" results/reference
  done
  rmdir "$new"
done
$python docs/generate/screenshots.py
exec $python docs/generate/update_pages.py
