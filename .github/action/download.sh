#!/bin/bash
# usage: download.sh RELEASES TAG PACKAGE
# Downloads the archive of a release, to save a build. Unpacks it as PACKAGE/tree, and writes found=true to GITHUB_OUTPUT. If
# this machine has no archive, or the archive's zerotax does not run, a later step builds zerotax.
set -euo pipefail

releases=$1
tag=$2
package=$3
case "$tag" in
  v[0-9]*) ;;
  *) exit 0 ;; # a branch or a commit has no release
esac
# shellcheck source=.github/action/packages.sh
. "$(dirname "$0")/packages.sh"
install_packages curl ca-certificates xz-utils
archive="zerotax-${tag#v}-linux-$(uname -m).tar.xz"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in SHA256SUMS "$archive"; do
  if ! curl --fail --silent --show-error --location --retry 3 --output "$work/$file" "$releases/$tag/$file" 2>"$work/why"; then
    echo "zerotax $tag has no $file: building it ($(tail -n 1 "$work/why"))"
    exit 0
  fi
done
if ! (cd "$work" && grep -F "  $archive" SHA256SUMS | sha256sum --check --strict --quiet -); then
  echo "::warning title=zerotax::$archive does not match SHA256SUMS: building it"
  exit 0
fi
mkdir -p "$package/tree"
if ! tar -C "$package/tree" --strip-components 1 -xf "$work/$archive" || ! "$package/tree/bin/zerotax" --version; then
  rm -rf "$package/tree"
  echo "the archive of zerotax $tag does not run here: building it"
  exit 0
fi
echo "found=true" >>"$GITHUB_OUTPUT"
