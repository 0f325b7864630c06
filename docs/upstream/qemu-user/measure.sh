#!/bin/sh
# Tests the kernel's promises about zeros under QEMU's user mode, in each release of Debian. Writes FOLDER/VERSION.json, and the
# bug report on the promise that the newest QEMU breaks by mistake.
#   docs/upstream/qemu-user/measure.sh FOLDER      needs apt and a mirror of Debian, and no root
set -eu
folder=${1:?usage: measure.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
zerotax=${ZEROTAX:-$here/../../../build/bin/zerotax}
mirror=${ZEROTAX_DEBIAN_MIRROR:-http://deb.debian.org/debian}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$work/bin:$PATH

# fetch RELEASE PACKAGE: unpacks the package into $work/RELEASE/files.
fetch() {
  mkdir -p "$work/$1/lists/partial" "$work/$1/cache/archives/partial" "$work/$1/files"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >"$work/$1/sources.list"
  set -- "$@" -q -o "Dir::Etc::sourcelist=$work/$1/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o "Dir::State::Lists=$work/$1/lists" -o "Dir::Cache=$work/$1/cache" -o Dir::State::status=/dev/null \
    -o Acquire::Languages=none
  release=$1
  package=$2
  shift 2
  apt-get "$@" update >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; exit 3; }
  (cd "$work/$release" && apt-get "$@" download "$package" >"$work/apt.log" 2>&1) || { cat "$work/apt.log" >&2; exit 3; }
  dpkg-deb -x "$work/$release"/*.deb "$work/$release/files"
}

for of in bullseye:qemu-user-static bookworm:qemu-user-static trixie:qemu-user sid:qemu-user; do
  release=${of%:*}
  fetch "$release" "${of#*:}"
  mkdir -p "$work/bin"
  ln -sf "$(find "$work/$release/files/usr/bin" -name 'qemu-x86_64' -o -name 'qemu-x86_64-static')" "$work/bin/qemu-x86_64"
  version=$(qemu-x86_64 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
  echo "qemu-user: $version of $release" >&2
  "$zerotax" contract --under qemu-x86_64 --seconds 5 --subject "QEMU $version, user mode" --force \
    --json "$work/whole.json" >/dev/null || [ $? = 1 ]
  /usr/bin/python3 -c '
import json, sys
whole = json.load(open(sys.argv[1]))
part = {key: whole[key] for key in ("zerotax_version", "started", "command", "tested_on", "race_seconds", "counts")}
part["promises"] = [{key: each[key] for key in ("id", "verdict", "detail")} for each in whole["promises"]]
print(json.dumps({"part": "of the document of zerotax contract --json", **part}, indent=1))
' "$work/whole.json" >"$folder/$version.json"
done
rm -rf "$folder/reports"
"$zerotax" contract --under qemu-x86_64 --promise dontneed-hole --subject "QEMU $version, user mode" \
  --report "$folder/reports" >/dev/null || [ $? = 1 ]
