#!/usr/bin/env bash
# Sets up, builds, and runs all tests but the long ones: what a change must pass. Unit tests run two at a time; those of whole runs,
# which have the processors' time in what they check, alone.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --oracles
scripts/build.sh release
exec ctest --test-dir build/release --no-tests=error --output-on-failure --label-exclude long --parallel 2
