#!/bin/sh
# usage: cmake/sysroot.sh [--where]
#
# Makes a folder of Debian bookworm's arm64 libraries for the preset arm64 (cmake/arm64.cmake), without root. The folder contains the
# -dev packages of packages.txt that the product or its tests need, the programs that tests run, and their dependencies. apt selects and
# downloads them with a separate state, and nothing is installed on this system. Prints the path of the folder; with --where, does
# nothing else.
#
# A complete folder of the same packages is not made again. The environment variable ZEROTAX_SYSROOT names another folder.
set -eu
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/zerotax
sysroot=${ZEROTAX_SYSROOT:-$cache/sysroot-arm64}
release=bookworm

fail() {
  echo "sysroot: $*" >&2
  exit 2
}

# Prints the URL of the Debian mirror that apt uses on this system.
mirror_of() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    grep -v '^ *#' | grep -o "https\{0,1\}://[^ ]*/$1/\{0,1\}\( \|\$\)" | head -n 1 | tr -d ' '
}

packages() {
  while read -r package comment; do
    case "$package" in *-dev) ;; *) continue ;; esac
    case "$comment" in '' | '# test') echo "$package" ;; esac
  done <packages.txt
  # The compiler's own packages, and the packages needed by tests in a virtual machine (./run arm64 --test).
  printf '%s\n' libc6-dev libstdc++-12-dev gcc bash coreutils dash findutils grep sed procps util-linux mount git file \
    cmake python3 python3-pytest python3-pytest-timeout python3-jsonschema
}

# Absolute links would lead to this system's files, so they are made relative within the folder.
mend_links() {
  find "$1" -type l -lname '/*' | while IFS= read -r link; do
    within=${link#"$1"/}
    up=$(dirname "$within" | sed 's,[^/][^/]*,..,g')
    target=$(readlink "$link")
    ln -sfn "$up$target" "$link" || exit 1
  done
}

# apt_private COMMAND…: runs apt-get for another machine on which nothing is installed.
apt_private() {
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= -o APT::Install-Recommends=false \
    -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" -o Dir::Cache="$work/cache" \
    -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- -o Dir::Etc::Preferences=- -o Dir::Etc::PreferencesParts=- \
    "$@" >>"$work/log" 2>&1
}

[ "${1:-}" != --where ] || { echo "$sysroot"; exit 0; }
[ $# = 0 ] || fail "unknown argument '$1' (usage: cmake/sysroot.sh [--where])"
for needed in apt-get dpkg-deb flock; do
  command -v "$needed" >/dev/null || fail "$needed is missing: this needs a Debian system"
done
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keys" ] || fail "$keys is missing: install debian-archive-keyring"

mkdir -p "$(dirname "$sysroot")" 2>/dev/null || fail "cannot make the folder $(dirname "$sysroot")"
{ exec 9>"$sysroot.lock"; } 2>/dev/null || fail "cannot write to $(dirname "$sysroot")"
flock 9
# The mark is written last. Only after that, the folder is renamed to its final name.
mark="$release $(packages | tr '\n' ' ')$(cksum <cmake/sysroot.sh)"
if [ "$(cat "$sysroot/.zerotax" 2>/dev/null)" = "$mark" ]; then
  echo "$sysroot"
  exit 0
fi
rm -rf "$sysroot.part"
work=$sysroot.part
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/root"
: >"$work/state/status"
mirror=$(mirror_of debian)
security=$(mirror_of debian-security)
: "${mirror:=http://deb.debian.org/debian}" "${security:=http://deb.debian.org/debian-security}"
cat >"$work/sources.list" <<TEXT
deb [signed-by=$keys] $mirror $release main
deb [signed-by=$keys] $mirror $release-updates main
deb [signed-by=$keys] $security $release-security main
TEXT

failed() { fail "$1: $({ grep '^[EW]: ' "$work/log" || tail -n 1 "$work/log"; } | head -n 1)"; }
echo "sysroot: downloading arm64 packages of Debian $release from $mirror …" >&2
apt_private update --error-on=any || failed "cannot read the lists of packages"
# shellcheck disable=SC2046  # a list of words
apt_private install --download-only -y $(packages) || failed "cannot download packages"
set -- "$work"/cache/archives/*.deb
[ -e "$1" ] || fail "apt downloaded nothing"
echo "sysroot: unpacking $# packages …" >&2
# The owners of files are stored in the format of dpkg-query --admindir, for cmake/package.py.
mkdir -p "$work/root/var/lib/dpkg/info"
for package; do
  dpkg-deb -x "$package" "$work/root" 2>>"$work/log" || fail "cannot unpack $(basename "$package"): $(tail -n 1 "$work/log")"
  name=$(dpkg-deb -f "$package" Package)
  { dpkg-deb -f "$package" | sed '1i Status: install ok installed' && echo; } >>"$work/root/var/lib/dpkg/status"
  [ "$(dpkg-deb -f "$package" Multi-Arch)" != same ] || name=$name:arm64
  dpkg-deb --fsys-tarfile "$package" | tar -t | sed 's,^[.],,; s,/$,,; s,^$,/.,' >"$work/root/var/lib/dpkg/info/$name.list"
done
echo 1 >"$work/root/var/lib/dpkg/info/format"
mend_links "$work/root" || fail "cannot mend the links in $work/root"
printf '%s\n' "$mark" >"$work/root/.zerotax"
rm -rf "$sysroot"
mv "$work/root" "$sysroot" || fail "cannot write $sysroot"
echo "$sysroot"
