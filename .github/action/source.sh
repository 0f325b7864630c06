#!/bin/bash
# Finds the source of zerotax to build, and the key by which its build is cached.
# Reads REF, REPOSITORY and the runner's GITHUB_ACTION_PATH and RUNNER_TEMP. Writes source=, commit=, system= and package= (the folder
# for the build) to GITHUB_OUTPUT.
set -euo pipefail

if [ -n "${REF:-}" ]; then
  # shellcheck source=.github/action/packages.sh
  . "$(dirname "$0")/packages.sh"
  install_packages git ca-certificates
  source="$RUNNER_TEMP/zerotax-source"
  rm -rf "$source"
  if ! git clone --quiet "$REPOSITORY" "$source" || ! git -C "$source" checkout --quiet --detach "$REF" --; then
    echo "::error title=zerotax::cannot check out '${REF//%/%25}' of $REPOSITORY: give a tag, branch or commit of it as 'ref'"
    exit 2
  fi
  commit=$(git -C "$source" rev-parse HEAD)
else
  source="$GITHUB_ACTION_PATH"
  # GitHub provides an action without its history, so a checksum of its contents identifies it. Build folders are
  # excluded only at the top, because files and folders elsewhere may have the same names.
  commit=$(cd "$source" &&
    find . \( -path ./.git -o -type d \( -path ./build -o -path './build-*' -o -name __pycache__ \) \) -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-40)
fi
# A library built on one version of a system does not load on another.
# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${ID:-linux}${VERSION_ID:-}")
{
  echo "source=$source"
  echo "commit=$commit"
  echo "system=$system"
  echo "package=$RUNNER_TEMP/zerotax-package"
} >>"$GITHUB_OUTPUT"
