#!/usr/bin/env bash
# What "done" means: formatting, the torch-free half under sanitizers, its threads under tsan, all tests.
#   scripts/check.sh          about half an hour on two cores
#   scripts/check.sh --long   the long tests too; a test that passed for this very commit is not run again
set -euo pipefail
cd "$(dirname "$0")/.."
say() { echo "check: $*"; }

scripts/setup.sh --oracles
if command -v clang-format >/dev/null; then
  scripts/format.sh --check
else
  say "formatting was not checked: clang-format is missing"
fi

# leaks are not counted where ptrace is forbidden, as in many containers
say "address and undefined-behaviour sanitizers over the torch-free half"
scripts/build.sh asan
ctest --test-dir build/asan --no-tests=error --output-on-failure --label-exclude 'long|system'

say "thread sanitizer over its threads"
scripts/build.sh tsan test_core test_shards test_tokens
ctest --test-dir build/tsan --no-tests=error --output-on-failure -R '^(core|shards|tokens)$'

scripts/build.sh release
if [[ ${1:-} == --long ]]; then
  passed="build/long-passed-$(git rev-parse --short HEAD)"
  mkdir -p "$passed"
  for name in $(ctest --test-dir build/release -N -L long | sed -n 's/^ *Test *#[0-9]*: //p'); do
    [[ -e $passed/$name ]] && { say "$name passed before"; continue; }
    ctest --test-dir build/release --output-on-failure -R "^$name\$"
    touch "$passed/$name"
  done
fi
ctest --test-dir build/release --no-tests=error --output-on-failure --label-exclude long
