#!/bin/bash
# Checks a library or a command against its baseline. Reports the result in all formats: annotations in the log, a summary of the
# step, and files.
#
# Reads ZEROTAX (empty for the zerotax on PATH), LIBRARY or COMMAND, NAME, BASELINE, OPTIONS, PROVE (true or false) and the runner's
# RUNNER_TEMP. Writes status=, reports= and name= (for a comment) to GITHUB_OUTPUT.
#
# The script's exit status is 0 for any result of the check, so that later steps can report. The last step of the action exits
# with the status of the check.
set -euo pipefail

# Splits a text at blanks and line ends into the array `split`, without expanding or running any word of it. As in a
# shell, a backslash at the end of a line joins the line with the next line.
split_words() {
  local text=${1//$'\r'/}
  # read returns a failure at the end of the text.
  read -r -d '' -a split <<<"${text//$'\\\n'/}" || true
}

# Returns whether the packages for the page are installed. No other format needs packages.
can_make_page() {
  [ -d /usr/share/nodejs/d3-scale ] && [ -d /usr/share/nodejs/d3-zoom ] &&
    { python3 -c 'import jinja2' 2>/dev/null || /usr/bin/python3 -c 'import jinja2' 2>/dev/null; }
}

# Writes a line of GITHUB_OUTPUT, without line ends in the value, which would add further lines.
put_output() { printf '%s=%s\n' "$1" "${2//[$'\r\n']/ }" >>"$GITHUB_OUTPUT"; }

REPORTS=$RUNNER_TEMP/zerotax-reports
mkdir -p "$REPORTS"
rm -f "$REPORTS"/check.*
words=(--github)
[ "${PROVE:-false}" != true ] || words+=(--prove)
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
  # If both or neither are given, the check itself reports the error.
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
