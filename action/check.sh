#!/bin/bash
# Checks a library against its baseline, in every format: annotations in the log, a summary of the step, and files.
# Reads ZEROTAX (empty: the one on PATH), LIBRARY, NAME, BASELINE, OPTIONS, REPORTS; writes status= and reports= to GITHUB_OUTPUT.
# It ends with 0 whatever the check says, so that the steps after it can report; the last step of the action ends with the status.
set -euo pipefail

mkdir -p "$REPORTS"
rm -f "$REPORTS"/check.*
words=(--github)
for format in json:check.json junit:check.xml markdown:check.md bmf:check.bmf.json html:check.html; do
  # The page needs a Python that imports jinja2; all else needs nothing.
  [ "${format%%:*}" != html ] || python3 -c 'import jinja2' 2>/dev/null || /usr/bin/python3 -c 'import jinja2' 2>/dev/null || continue
  words+=("--${format%%:*}" "$REPORTS/${format#*:}")
done
# Split at blanks, and nothing else: no word of it is expanded or run.
read -ra more <<<"${OPTIONS:-}"

set +e
{
  "${ZEROTAX:-zerotax}" check --allocator "$NAME=$LIBRARY" --baseline "$BASELINE" "${words[@]}" ${more[@]+"${more[@]}"} 2>&1 1>&3 3>&- |
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
} >>"$GITHUB_OUTPUT"
