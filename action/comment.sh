#!/bin/bash
# Writes the Markdown of the check as a comment of the pull request; one comment for each allocator, which later checks replace.
# Reads NAME, REPORTS, PULL_REQUEST, GH_REPO, GH_TOKEN. A comment that cannot be written is a warning: a pull request from a fork
# has no permission to write.
set -euo pipefail

[ -s "$REPORTS/check.md" ] || exit 0
if ! command -v gh >/dev/null; then
  echo "::warning title=zerotax check::no comment: gh is not installed on this runner"
  exit 0
fi
mark="<!-- zerotax check ${NAME//[^A-Za-z0-9._-]/-} -->"
{
  echo "$mark"
  cat "$REPORTS/check.md"
} >"$REPORTS/comment.md"

place="repos/$GH_REPO/issues"
written() {
  local number
  number=$(MARK="$mark" gh api --paginate "$place/$PULL_REQUEST/comments" \
    --jq '.[] | select(.body | startswith(env.MARK)) | .id') || return
  number=${number%%$'\n'*}
  if [ -n "$number" ]; then
    gh api --method PATCH "$place/comments/$number" -F "body=@$REPORTS/comment.md" --silent
  else
    gh api --method POST "$place/$PULL_REQUEST/comments" -F "body=@$REPORTS/comment.md" --silent
  fi
}
written || echo "::warning title=zerotax check::no comment: GitHub refused it; the job needs 'permissions: pull-requests: write'"
