#!/usr/bin/env bash
# Sets up, builds, and runs all tests but the long ones: what a change must pass. Two programs run at a time, the
# longest (whole runs, most of them on one core) first.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --oracles
scripts/build.sh release
export BERTPRETRAIN_SKIPS=$PWD/build/release/skips.txt
rm -f "$BERTPRETRAIN_SKIPS"
status=0
ctest --test-dir build/release --no-tests=error --output-on-failure --label-exclude long --parallel 2 || status=$?
scripts/list_skips.sh "$BERTPRETRAIN_SKIPS" || status=1
exit "$status"
