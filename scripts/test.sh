#!/usr/bin/env bash
# What a change must pass, and what CI runs: formatting, shell scripts, all tests but the long ones, and for the half without torch
# clang-tidy and the unit tests under sanitizers. It ends with the list of skipped tests, and fails on one that is not expected on this
# kind of machine. scripts/check.sh adds what takes longer.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { echo "test: $* ($((SECONDS / 60)) min so far)"; }

scripts/setup.sh --oracles
scripts/lint.sh

say "all tests"
scripts/build.sh release
export BERTPRETRAIN_SKIPS=$PWD/build/skips.txt
rm -f "$BERTPRETRAIN_SKIPS"
# Two programs run at a time, the longest (whole runs, most of them on one core) first.
status=0
ctest --test-dir build/release --no-tests=error --output-on-failure --label-exclude long --parallel 2 || status=$?
# Where a test fails, the rest runs too, so that one run shows all failures.
for sanitizer in asan tsan; do
  say "unit tests of the half without torch, $sanitizer"
  env -u BERTPRETRAIN_SKIPS scripts/sanitize.sh "$sanitizer" || status=1  # their skips are listed already
done
say "clang-tidy"
scripts/lint.sh --tidy || status=1
say "done"
scripts/list_skips.sh "$BERTPRETRAIN_SKIPS" || status=1
exit "$status"
