#!/bin/sh
# Runs the commands of README.md unchanged in a clean clone on a bare machine, as a newcomer does, and prints how long each took.
#
#   tests/project/newcomer_path.sh [--all]     --all: ./run test, too
#
# Saves the scripts that README.md says to save. Blocks marked "not run: needs …" are skipped. Blocks that take long are run, too.
set -eu
cd "$(dirname "$0")/../.."
all=
case "$*" in
  '') ;;
  --all) all=yes ;;
  *)
    echo "usage: $0 [--all]" >&2
    exit 2
    ;;
esac
commands=$(mktemp)
trap 'rm -f "$commands"' EXIT

# A bare machine has awk (mawk), but no Python yet.
awk '
  /^Save this as `[^`]+`:$/ { split($0, words, "`"); file = words[2] }
  /^<!-- not run: needs / { skipped = 1 }
  /^```/ {
    if (kind == "") { kind = $0; next }
    if (kind == "```python") file = ""
    kind = ""
    skipped = 0
    next
  }
  kind == "```python" && file != "" { print >file }
  kind == "```sh" && !skipped { if (sub(/\\$/, "")) printf "%s", $0; else print }
' README.md >"$commands"

# Prints N seconds in a form such as 2 min 5 s.
seconds_text() { echo "$(($1 / 60)) min $(($1 % 60)) s"; }

count=0
begun=$(date +%s)
while IFS= read -r command <&3; do
  case "$command" in
    './run test'*)
      if [ -z "$all" ]; then
        echo "newcomer's path: left out without --all: $command"
        continue
      fi
      ;;
  esac
  echo "newcomer's path: \$ $command"
  started=$(date +%s)
  # Runs the command in this shell, as if it were typed, so that PATH stays set.
  eval "$command" </dev/null || {
    echo "newcomer's path: failed with status $? after $(seconds_text $(($(date +%s) - started))): $command"
    exit 1
  }
  count=$((count + 1))
  echo "newcomer's path: that took $(seconds_text $(($(date +%s) - started)))"
done 3<"$commands"
[ $count -gt 0 ] || { echo "newcomer's path: README.md has no command" >&2; exit 1; }
echo "newcomer's path: $count commands, all worked, $(seconds_text $(($(date +%s) - begun)))"
