#!/bin/sh
# Runs the commands of docs/top.md. A service refills memory in its own namespaces, as in a container. top finds the
# service, record explains the cause, advise names a setting, and top shows the service with this setting.
#
#   docs/examples/production.sh FOLDER [SECONDS]   writes top_before.txt, record.txt, advise.txt, setting.txt and
#                                                  top_after.txt to FOLDER; records for SECONDS (5)
set -eu
cd "$(dirname "$0")/../.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
seconds=${2:-5}
work=$(mktemp -d)
build=${ZEROTAX_BUILD:-$PWD/build}
PATH=$build/bin:$PATH
load=
pid=
# PID 1 of a namespace ignores every signal but SIGKILL, and unshare ignores all signals.
end() {
  [ -z "$load" ] || kill "$load" || true
  [ -z "$pid" ] || kill -KILL "$pid" || true
  wait
  load=
  pid=
}
trap 'end; rm -rf "$work"' EXIT
c++ -std=c++20 -O2 -g -pthread -o "$work/service" docs/examples/production/service.cc

# Starts the service with the given variables as PID 1 of a container. Also starts a client that sends requests nonstop.
start() {
  : >"$work/port" # remove the port of the previous service
  env "$@" unshare --user --map-root-user --pid --fork --mount-proc --uts --kill-child "$work/service" 0 >"$work/port" 2>/dev/null &
  until port=$(grep . "$work/port"); do sleep 0.1; done
  pid=$(pgrep -P $!)
  (while curl -s "http://127.0.0.1:$port/" >/dev/null; do :; done) &
  load=$!
  sleep 1
}

top() { zerotax top --once --interval 2 --sort refilled --filter service; }

start
top >"$folder/top_before.txt"
zerotax record --pid "$pid" --seconds "$seconds" --text "$folder/record.txt"
end
zerotax advise --settings-only --json "$work/advise.json" -- "$work/service" 0 300 >"$folder/advise.txt"
/usr/bin/python3 -c '
import json, sys
advice = json.load(open(sys.argv[1]))
print(*(each["line"] for each in advice["remedies"] if each["name"] == advice["recommendation"]["remedy"]))' \
  "$work/advise.json" >"$folder/setting.txt"
# shellcheck disable=SC2046  # each variable is a word
start $(cat "$folder/setting.txt")
top >"$folder/top_after.txt"
