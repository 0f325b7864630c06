#!/bin/sh
# Every source of ours under the linter of its language; all parts, or those that are named. Each part says what it found, how
# many files it read and how long that took. Exit status 1 if a part found something.
#
# clang-tidy reads from the release build what is compiled and how: most files a room at a time, as the build does. odr links the
# command with the checks of link-time optimisation: two types of one name are an error. headers compiles each header alone, so
# that whoever includes it needs no other before it. The others need no build.
set -eu
cd "$(dirname "$0")/.."

# Every part is a function here, quick ones first: it reads the files of its list and fails if it found anything.
all_parts="format shell python javascript prose headers odr tidy"

# Prints what find finds of a pattern in the folders of our own, but for what is built or downloaded. Of folders whose names
# begin with a dot, .github/action alone has sources.
sources() { find . .github/action -type d \( -name 'build*' -o -name '.?*' \) -prune -o -type f \( "$@" \) -print | sort; }

files_of() {
  case "$1" in
    format) sources -name '*.h' -o -name '*.cc' ;;
    shell) printf '%s\n' ./run ./.ci/run && sources -name '*.sh' ;;
    python) sources -name '*.py' ;;
    javascript) sources -name '*.js' ;;
    prose)
      printf '%s\n' ./run
      sources -name '*.md' -o -path './harness/measuring/cli/topics/*.txt' -o -name '*.cc' -o -name '*.[ch]' -o -name '*.py' \
        -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.sh' | grep -v '^[.]/results/'
      ;;
    headers) sources -name '*.h' | grep '^[.]/\(harness\|recorder\|allocators\|cases\)/' ;;
    odr) sources -name '*.cc' | grep '^[.]/harness/' ;;
    # Sources that the build generates are not ours, except those that consist of files of ours.
    tidy) sed -n 's/^  "file": "\(.*\)",\{0,1\}$/\1/p' build/compile_commands.json | grep '[.]c[cx]*$' | grep -v cmake_pch | sort -u ;;
  esac
}

format() { xargs clang-format --dry-run --Werror <"$1"; }

shell() { xargs shellcheck <"$1"; }

python() { xargs flake8 <"$1"; }

# A node that is not Debian's does not look where Debian puts the modules of eslint.
javascript() { NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH} xargs eslint --format unix <"$1"; }

# Spelling, and phrases that a reader must read twice: in pages, help topics, comments, docstrings and messages.
prose() {
  # shellcheck disable=SC2046  # no name of ours has a blank
  codespell --quiet-level 3 --ignore-words cmake/spelling.txt $(grep '[.]md$' "$1") harness recorder cases allocators plots cmake
  xargs /usr/bin/python3 cmake/prose.py <"$1"
}

headers() {
  # The contract suite and the program that replays are in C.
  # shellcheck disable=SC2016  # the inner shell expands these
  xargs -P "$(nproc)" -n 1 sh -c '
    wings=$(printf -- "-I %s " harness/*/)
    compile="${CXX:-g++} -std=c++20 -x c++"
    case "$1" in */contract/suite/* | */replay/process/*) compile="${CC:-gcc} -std=gnu11 -x c" ;; esac
    $compile -fsyntax-only -Wall -Wextra -Wno-unused-function \
      $wings -I allocators -I recorder -I recorder/include -include "$1" /dev/null' sh <"$1"
}

odr() {
  [ -f build-odr/build.ninja ] || cmake --preset odr >"$work/odr.log" 2>&1 || { cat "$work/odr.log"; return 1; }
  cmake --build build-odr --target zerotax -- --quiet
}

# Two files at a time; of those that are clean nothing is shown but how far it got.
tidy() {
  [ -f build/compile_commands.json ] || { echo "lint: tidy needs a build: ./run build" >&2; return 2; }
  # The compiler's precompiled header is nothing that clang reads, and its knobs are unknown to it.
  sed 's/-Winvalid-pch -include [^ ]*cmake_pch[.]hxx//; s/--param=[^ ]*//; s/-fno-tree-loop-distribute-patterns//' build/compile_commands.json >"$work/compile_commands.json"
  export database="$work" tidied="$work/tidied" of="$(($(wc -l <"$1")))"
  mkdir "$tidied"
  # shellcheck disable=SC2016  # the inner shell expands these
  xargs -P "$(nproc)" -n 2 sh -c '
    log=$(mktemp "$tidied/XXXXXX")
    clang-tidy -p "$database" --quiet --header-filter=".*" --warnings-as-errors="*" --extra-arg=-fsized-deallocation "$@" >"$log" 2>&1 && status=0 || status=1
    [ $status = 0 ] || grep -v "warnings\{0,1\} generated\|^Suppressed\|^Use -header-filter" "$log"
    done=$(find "$tidied" -type f | wc -l)
    [ $((done % 10)) != 0 ] || echo "lint: tidy: $((done * 2)) of $of files"
    exit $status' sh <"$1"
}

# shellcheck disable=SC2086  # a list of words
[ $# -gt 0 ] || set -- $all_parts
for part in "$@"; do
  case " $all_parts " in
    *" $part "*) ;;
    *)
      echo "lint: unknown part '$part' (choose: $all_parts)" >&2
      exit 2
      ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=
for part in "$@"; do
  files_of "$part" >"$work/$part"
  count=$(($(wc -l <"$work/$part")))
  echo "lint: $part: $count files …"
  begin=$(date +%s)
  if "$part" "$work/$part"; then verdict=clean; else verdict=FAILED failed="$failed $part"; fi
  echo "lint: $part: $verdict, $count files, $(($(date +%s) - begin)) s"
done
if [ -n "$failed" ]; then
  echo "lint: FAILED:$failed"
  exit 1
fi
echo "lint: clean: $*"
