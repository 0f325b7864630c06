#!/bin/bash
# Gets the archive of a release, in place of a build: download.sh RELEASES TAG PACKAGE leaves PACKAGE/tree and writes found=true to
# GITHUB_OUTPUT. What has no archive for this machine, or one that this machine cannot run, is built.
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
  echo "::warning title=zerotax::$archive is not what SHA256SUMS says: building it"
  exit 0
fi
mkdir -p "$package/tree"
if ! tar -C "$package/tree" --strip-components 1 -xf "$work/$archive" || ! "$package/tree/bin/zerotax" --version; then
  rm -rf "$package/tree"
  echo "the archive of zerotax $tag does not run here: building it"
  exit 0
fi
echo "found=true" >>"$GITHUB_OUTPUT"
