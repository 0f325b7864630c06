#!/bin/sh
# Runs advise on the real programs of docs/advise.md, and times them by hand, unchanged and with the remedy.
#
#   docs/examples/advise.sh FOLDER [NAME]...   writes NAME.json, NAME.md, NAME.out (output in the terminal) and NAME.txt
#                                              (times by hand) to FOLDER
#
# Without a name, the script runs all: numpy gcc redis sqlite3 node git
set -eu
cd "$(dirname "$0")/../.."
zerotax=$PWD/build/bin/zerotax
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- numpy gcc redis sqlite3 node git
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/numpy_rounds.py" <<'TEXT'
import numpy as np

def step():
    a = np.zeros((512, 1024))
    a[0, 0] = 1
    b = a + 1

for i in range(400):
    step()
TEXT

cat >"$work/statements.sql" <<'TEXT'
CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, text TEXT);
WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 150000)
  INSERT INTO item SELECT i, i * 7919 % 50021, 'the text of number ' || i * 31 % 1009 FROM number;
CREATE INDEX item_kind ON item(kind);
SELECT text, count(*) FROM item GROUP BY text ORDER BY 2 DESC, 1 LIMIT 5;
TEXT

cat >"$work/buffers.js" <<'TEXT'
let sum = 0;
for (let i = 0; i < 400; ++i) sum += Buffer.alloc(4 << 20).length;
console.log(sum);
TEXT

cat >"$work/load.sh" <<'TEXT'
redis-benchmark -p 7093 -q -n 20000 -d 10000 -r 4000 -t set,get >/dev/null &&
redis-cli -p 7093 bgsave >/dev/null &&
redis-benchmark -p 7093 -q -n 20000 -d 10000 -r 4000 -t set >/dev/null &&
while redis-cli -p 7093 info persistence | grep -q rdb_bgsave_in_progress:1; do sleep 0.05; done
rm -f "$(dirname "$0")/dump.rdb"  # so that the next run starts with an empty database
TEXT

# Runs the command of the named program. The remaining arguments precede the command.
with() {
  name=$1
  shift
  case "$name" in
    numpy) "$@" /usr/bin/python3 "$work/numpy_rounds.py" ;;
    gcc) "$@" g++ -std=c++20 -O2 -I allocators -S -o - allocators/largecache/large.cc ;;
    redis) "$@" redis-server --port 7093 --save '' --dir "$work" ;;
    sqlite3) "$@" sqlite3 :memory: ;;
    node) "$@" node "$work/buffers.js" ;;
    git) "$@" git pack-objects --no-reuse-object --threads=1 --all --stdout -q ;;
    *)
      echo "advise.sh: unknown program '$name' (choose: numpy gcc redis sqlite3 node git)" >&2
      exit 2
      ;;
  esac
}

# Times five unchanged runs and five runs with the recommended variables, alternately. The times are user and system
# seconds.
by_hand() {
  # shellcheck disable=SC2016  # bash expands it
  timed='TIMEFORMAT="$1: %U user, %S system"; shift; time "$@"'
  variables=$(/usr/bin/python3 -c '
import json, sys
advice = json.load(open(sys.argv[1]))
print(*(each["line"] for each in advice["remedies"] if each["name"] == advice["recommendation"]["remedy"]))' "$folder/$1.json")
  if [ -z "$variables" ]; then
    echo "nothing is recommended" >"$folder/$1.txt"
    return
  fi
  for _ in 1 2 3 4 5; do
    with "$1" bash -c "$timed" _ "as it is" <"$2" >/dev/null
    # shellcheck disable=SC2086  # the variables must be split into words
    with "$1" bash -c "$timed" _ "with it" env $variables <"$2" >/dev/null
  done 2>"$folder/$1.txt"
}

for program in "$@"; do
  echo "advise.sh: $program" >&2
  input=/dev/null
  [ "$program" != sqlite3 ] || input=$work/statements.sql
  set -- --json "$folder/$program.json" --markdown "$folder/$program.md"
  [ "$program" != sqlite3 ] || set -- "$@" --input "$input"
  if [ "$program" = redis ]; then
    with redis "$zerotax" advise "$@" --ready "redis-cli -p 7093 ping | grep -q PONG" --load "sh $work/load.sh" -- >"$folder/$program.out"
  else
    with "$program" "$zerotax" advise "$@" -- >"$folder/$program.out"
    by_hand "$program" "$input"
  fi
done
