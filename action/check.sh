#!/bin/bash
# Checks a library or a command against its baseline, in every format: annotations in the log, a summary of the step, and files.
# Reads ZEROTAX (empty: the one on PATH), LIBRARY or COMMAND, NAME, BASELINE, OPTIONS, REPORTS; writes status=, reports= and name=
# (for a comment) to GITHUB_OUTPUT.
# It ends with 0 whatever the check says, so that the steps after it can report; the last step of the action ends with the status.
set -euo pipefail

mkdir -p "$REPORTS"
rm -f "$REPORTS"/check.*
words=(--github)
if [ -n "${LIBRARY:-}" ] && [ -z "${COMMAND:-}" ]; then
  NAME=${NAME:-mine}
  subject=(--allocator "$NAME=$LIBRARY")
  command=()
elif [ -n "${COMMAND:-}" ] && [ -z "${LIBRARY:-}" ]; then
  # Split at blanks, as the options are.
  read -ra command <<<"$COMMAND"
  subject=(${NAME:+--name "$NAME"})
  NAME=${NAME:-${command[0]##*/}}
  command=(-- "${command[@]}")
else
  # Both, or neither: the check itself says what is wrong, as it says everything else.
  NAME=${NAME:-mine}
  subject=(--allocator "$NAME=${LIBRARY:-}")
  command=(${COMMAND:+-- "$COMMAND"})
fi
for format in json:check.json junit:check.xml markdown:check.md bmf:check.bmf.json html:check.html; do
  # The page needs a Python that imports jinja2; all else needs nothing.
  [ "${format%%:*}" != html ] || [ ${#command[@]} = 0 ] || continue
  [ "${format%%:*}" != html ] || python3 -c 'import jinja2' 2>/dev/null || /usr/bin/python3 -c 'import jinja2' 2>/dev/null || continue
  words+=("--${format%%:*}" "$REPORTS/${format#*:}")
done
# Split at blanks, and nothing else: no word of it is expanded or run.
read -ra more <<<"${OPTIONS:-}"

set +e
{
  "${ZEROTAX:-zerotax}" check "${subject[@]}" --baseline "$BASELINE" "${words[@]}" ${more[@]+"${more[@]}"} "${command[@]}" 2>&1 1>&3 3>&- |
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
{
  echo "status=$status"
  echo "reports=$REPORTS"
  echo "name=$NAME"
} >>"$GITHUB_OUTPUT"
