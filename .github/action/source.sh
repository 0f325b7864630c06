#!/bin/bash
# Finds the source of zerotax that is to be built, and what a build of it is cached by.
# Reads REF, REPOSITORY and the runner's GITHUB_ACTION_PATH and RUNNER_TEMP; writes source=, commit=, system= and package=, the folder
# for the build, to GITHUB_OUTPUT.
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
  # GitHub brings an action without its history: then its content is its name.
  # Folders of builds lie at its top; files and folders elsewhere may have such names, too.
  commit=$(cd "$source" &&
    find . \( -path ./.git -o -type d \( -path ./build -o -path './build-*' -o -name __pycache__ \) \) -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-40)
fi
# A library of one system's version does not load on another's.
# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${ID:-linux}${VERSION_ID:-}")
{
  echo "source=$source"
  echo "commit=$commit"
  echo "system=$system"
  echo "package=$RUNNER_TEMP/zerotax-package"
} >>"$GITHUB_OUTPUT"
