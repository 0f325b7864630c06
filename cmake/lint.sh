#!/bin/sh
# clang-format and clang-tidy over every source of ours; clang-tidy reads how each is compiled from the release build.
set -eu
cd "$(dirname "$0")/.."
find harness recorder allocators cases benchmarks tests -name '*.h' -o -name '*.cc' | sort >build/lint-files
xargs clang-format --dry-run --Werror <build/lint-files
grep '\.cc$' build/lint-files | xargs -P "$(nproc)" -n 4 clang-tidy -p build --quiet 2>/dev/null
echo "lint: $(wc -l <build/lint-files) files are clean"
