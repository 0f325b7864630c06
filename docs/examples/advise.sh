#!/bin/sh
# Runs advise on the real programs of docs/advise.md, and times them by hand, unchanged and with the remedy.
#
#   docs/examples/advise.sh FOLDER [NAME]...   writes NAME.json, NAME.md, NAME.out (output in the terminal) and NAME.txt
#                                              (times by hand) to FOLDER
#   docs/examples/advise.sh --frontier TIMES FOLDER [NAME]...
#                                              runs advise --frontier TIMES times on each program; writes NAME.json,
#                                              NAME.svg and NAME.txt (output in the terminal) of the first time, and
#                                              adds a line to knees.txt each time
#
# Without a name, the script runs all: numpy gcc redis sqlite3 node git (--frontier: redis numpy pages node git-log)
set -eu
times=0
programs="numpy gcc redis sqlite3 node git"
if [ "${1-}" = --frontier ]; then
  times=$2
  programs="redis numpy pages node git-log"
  shift 2
fi
cd "$(dirname "$0")/../.."
zerotax=$PWD/build/bin/zerotax
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
# shellcheck disable=SC2086  # the words are meant to be split
[ $# -gt 0 ] || set -- $programs
work=$(mktemp -d)
head=$(git rev-parse HEAD)
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

cat >"$work/pages.py" <<'TEXT'
import http.server
import json


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps([{"row": i, "text": "x" * 200} for i in range(6000)]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", 7094), Pages).serve_forever()
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
    git-log) "$@" git log -p -n 500 "$head" ;;
    pages) "$@" /usr/bin/python3 "$work/pages.py" ;;
    *)
      echo "advise.sh: unknown program '$name' (choose: numpy gcc redis sqlite3 node git git-log pages)" >&2
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

# Runs advise on the named program, with the remaining arguments as options.
advise() {
  name=$1
  shift
  case "$name" in
    sqlite3) set -- "$@" --input "$work/statements.sql" ;;
    redis)
      load="sh $work/load.sh"
      [ "$times" -eq 0 ] || load="redis-benchmark -p 7093 -q -n 5000 -d 100000 -r 200 -t set,get >/dev/null"
      set -- "$@" --ready "redis-cli -p 7093 ping | grep -q PONG" --load "$load"
      ;;
    pages)
      set -- "$@" --ready "curl -sf http://127.0.0.1:7094/ >/dev/null" \
        --load "curl -sf --no-progress-meter --parallel --parallel-max 8 'http://127.0.0.1:7094/[1-40]' >/dev/null"
      ;;
  esac
  with "$name" "$zerotax" advise "$@" --
}

# Searches the frontier of the named program. Adds to knees.txt the time of the search divided by the program's time, the
# number of runs, the predicted time, and the recommended setting.
frontier() {
  file=$folder/$1
  [ "$2" = 1 ] || file=$work/again
  began=$(date +%s)
  advise "$1" --frontier --settings-only --plot --json "$file.json" --svg "$file.svg" >"$file.txt" 2>"$work/messages" || {
    cat "$work/messages" >&2
    exit 1
  }
  /usr/bin/python3 -c '
import json, re, sys
name, file, seconds, messages = sys.argv[1:]
advice = json.load(open(file))
program = advice["present"]["figures"]["wall_s"]
runs = len(advice["runs"])
[said] = re.findall("zerotax: (at most .*)", open(messages).read()) or ["nothing"]
[knee] = [each["line"] for each in advice["frontier"]["members"] if each["knee"]] or ["nothing helps"]
print(f"{name}: {int(seconds) / program:.0f} times the {program:.2f} s of the program, {runs} runs (said: {said}); {knee}")
' "$1" "$file.json" "$(($(date +%s) - began))" "$work/messages" >>"$folder/knees.txt"
}

for program in "$@"; do
  echo "advise.sh: $program" >&2
  time=0
  while [ $((time += 1)) -le "$times" ]; do frontier "$program" $time; done
  [ "$times" -eq 0 ] || continue
  advise "$program" --json "$folder/$program.json" --markdown "$folder/$program.md" >"$folder/$program.out"
  input=/dev/null
  [ "$program" != sqlite3 ] || input=$work/statements.sql
  case "$program" in redis | pages) ;; *) by_hand "$program" "$input" ;; esac
done
