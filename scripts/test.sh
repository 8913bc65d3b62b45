#!/usr/bin/env bash
# What a change must pass, and what CI runs: formatting, shell scripts, the torch-free half under sanitizers and clang-tidy, and all
# tests but the long ones. It ends with the list of skipped tests, and fails on one that is not expected on this kind of machine.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { echo "test: $* ($((SECONDS / 60)) min so far)"; }

scripts/setup.sh --oracles
scripts/lint.sh

units=(core config text tokens shards archive telemetry reports)
for sanitizer in asan tsan; do
  say "unit tests of the torch-free half, $sanitizer"
  scripts/build.sh "$sanitizer" "${units[@]/#/test_}"
  ctest --test-dir "build/$sanitizer" --no-tests=error --output-on-failure --parallel 2 -R "^($(IFS='|'; echo "${units[*]}"))\$"
  if [[ $sanitizer == asan ]]; then scripts/lint.sh --tidy; fi
done

say "all tests"
scripts/build.sh release
export BERTPRETRAIN_SKIPS=$PWD/build/skips.txt
rm -f "$BERTPRETRAIN_SKIPS"
# Two programs run at a time, the longest (whole runs, most of them on one core) first.
status=0
ctest --test-dir build/release --no-tests=error --output-on-failure --label-exclude long --parallel 2 || status=$?
say "done"
scripts/list_skips.sh "$BERTPRETRAIN_SKIPS" || status=1
exit "$status"
