#!/bin/bash
# Checks a library or a command against its baseline, in every format: annotations in the log, a summary of the step, and files.
# Reads ZEROTAX (empty: the one on PATH), LIBRARY or COMMAND, NAME, BASELINE, OPTIONS and the runner's RUNNER_TEMP; writes status=,
# reports= and name= (for a comment) to GITHUB_OUTPUT.
# It ends with 0 whatever the check says, so that the steps after it can report; the last step of the action ends with the status.
set -euo pipefail

# Splits a text at blanks and line ends, and nothing else: no word of it is expanded or run. A backslash at the end of a line joins
# it with the next one, as in a shell. Leaves the words in `split`.
split_words() {
  local text=${1//$'\r'/}
  # read reports the end of the text as a failure.
  read -r -d '' -a split <<<"${text//$'\\\n'/}" || true
}

# Whether the packages for the page are installed; no other format needs any.
can_make_page() {
  [ -d /usr/share/nodejs/d3-scale ] && [ -d /usr/share/nodejs/d3-zoom ] &&
    { python3 -c 'import jinja2' 2>/dev/null || /usr/bin/python3 -c 'import jinja2' 2>/dev/null; }
}

# A line of GITHUB_OUTPUT: a value with line ends would add others.
put_output() { printf '%s=%s\n' "$1" "${2//[$'\r\n']/ }" >>"$GITHUB_OUTPUT"; }

REPORTS=$RUNNER_TEMP/zerotax-reports
mkdir -p "$REPORTS"
rm -f "$REPORTS"/check.*
words=(--github)
split_words "${COMMAND:-}"
command=(${split[@]+"${split[@]}"})
if [ -n "${LIBRARY:-}" ] && [ ${#command[@]} = 0 ]; then
  NAME=${NAME:-mine}
  subject=(--allocator "$NAME=$LIBRARY")
elif [ ${#command[@]} != 0 ] && [ -z "${LIBRARY:-}" ]; then
  subject=(${NAME:+--name "$NAME"})
  NAME=${NAME:-${command[0]##*/}}
  command=(-- "${command[@]}")
else
  # Both, or neither: the check itself says what is wrong, as it says everything else.
  NAME=${NAME:-mine}
  subject=(--allocator "$NAME=${LIBRARY:-}")
  [ ${#command[@]} = 0 ] || command=(-- "${command[@]}")
fi
for format in json:check.json junit:check.xml markdown:check.md bmf:check.bmf.json html:check.html; do
  [ "${format%%:*}" != html ] || can_make_page || continue
  words+=("--${format%%:*}" "$REPORTS/${format#*:}")
done
split_words "${OPTIONS:-}"

set +e
{
  "${ZEROTAX:-zerotax}" check "${subject[@]}" --baseline "$BASELINE" "${words[@]}" ${split[@]+"${split[@]}"} ${command[@]+"${command[@]}"} 2>&1 1>&3 3>&- |
    tee "$REPORTS/check.log" >&2
  status=${PIPESTATUS[0]}
} 3>&1
set -e

if [ -s "$REPORTS/check.md" ]; then
  cat "$REPORTS/check.md" >>"$GITHUB_STEP_SUMMARY"
else
  problem=$(tail -n 1 "$REPORTS/check.log")
  echo "::error title=zerotax check::${problem//%/%25}"
  printf '### zerotax check: not done\n\n    %s\n' "$problem" >>"$GITHUB_STEP_SUMMARY"
fi
put_output status "$status"
put_output reports "$REPORTS"
put_output name "$NAME"
