#!/bin/sh
# usage: cmake/lint.sh [PART]...
#
# Runs all linters, or the named parts, on the project's sources. Each part prints its findings, the number of files and the time it
# took. The exit status is 1 if a part found something.
#
# tidy runs clang-tidy with the commands of the release build. odr links the command with link-time optimization, which finds
# different types of the same name. headers compiles each header alone, so that each header includes what it needs. The other parts
# need no build.
set -eu
cd "$(dirname "$0")/.."

# Each part is a function with the part's name, quick parts first. A part reads the names of its files from a list, and
# fails if it found anything.
all_parts="format shell python javascript prose headers odr tidy"

# Prints the files that match in the project's own folders, without built or downloaded files. Of the folders whose
# names begin with a dot, only .github/action has sources.
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
    # Generated sources are omitted, except sources that combine files of the project.
    tidy) sed -n 's/^  "file": "\(.*\)",\{0,1\}$/\1/p' build/compile_commands.json | grep '[.]c[cx]*$' | grep -v cmake_pch | sort -u ;;
  esac
}

format() { xargs clang-format --dry-run --Werror <"$1"; }

shell() { xargs shellcheck <"$1"; }

python() { xargs flake8 <"$1"; }

# A private build of Node does not search the folder of Debian's eslint modules.
javascript() { NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH} xargs eslint --format unix <"$1"; }

# Checks spelling, and finds phrases that a reader must read twice, in pages, help topics, comments, docstrings and
# messages.
prose() {
  # shellcheck disable=SC2046  # no name of ours has a blank
  codespell --quiet-level 3 --ignore-words cmake/spelling.txt $(grep '[.]md$' "$1") harness recorder cases allocators plots cmake
  xargs /usr/bin/python3 cmake/prose.py <"$1"
}

headers() {
  # The contract suite and the programs of replay and prove are in C.
  # shellcheck disable=SC2016  # the inner shell expands these
  xargs -P "$(nproc)" -n 1 sh -c '
    wings=$(printf -- "-I %s " harness/*/)
    compile="${CXX:-g++} -std=c++20 -x c++"
    case "$1" in */contract/suite/* | */replay/process/* | */prove/process/*) compile="${CC:-gcc} -std=gnu11 -x c" ;; esac
    $compile -fsyntax-only -Wall -Wextra -Wno-unused-function \
      $wings -I allocators -I recorder -I recorder/include -include "$1" /dev/null' sh <"$1"
}

odr() {
  [ -f build-odr/build.ninja ] || cmake --preset odr >"$work/odr.log" 2>&1 || { cat "$work/odr.log"; return 1; }
  cmake --build build-odr --target zerotax -- --quiet
}

# Checks two files per process. If all files are clean, only the progress is shown.
tidy() {
  [ -f build/compile_commands.json ] || { echo "lint: tidy needs a build: ./run build" >&2; return 2; }
  # Clang cannot read GCC's precompiled header, and does not know GCC's parameters.
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
