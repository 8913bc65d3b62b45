#!/usr/bin/env bash
# What "done" means: formatting, the torch-free half under sanitizers, its threads under tsan, all tests, every command of the
# documentation, and the portable archive in bare systems.
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

# run_long KIND: the long tests of a build, those that have not passed for this commit.
run_long() {
  local kind=$1 name passed
  passed="build/long-passed-$(git rev-parse --short HEAD)"
  mkdir -p "$passed"
  for name in $(ctest --test-dir "build/$kind" -N -L long | sed -n 's/^ *Test *#[0-9]*: //p'); do
    [[ -e $passed/$name ]] && { say "$name passed before"; continue; }
    ctest --test-dir "build/$kind" --output-on-failure -R "^$name\$"
    touch "$passed/$name"
  done
}

scripts/build.sh release
if [[ ${1:-} == --long ]]; then
  run_long release
  say "fuzz targets, two minutes each"
  scripts/setup.sh --fuzz
  scripts/build.sh fuzz
  run_long fuzz
fi
ctest --test-dir build/release --no-tests=error --output-on-failure --label-exclude long

say "every command of the documentation"
.venv/bin/python scripts/check_docs.py

say "all stages of first_light.sh on the CPU"
scripts/build.sh release time_parts draw_curves
rm -rf build/first_light
scripts/benchmark/first_light.sh --device cpu --minutes 20 --output build/first_light

if ((EUID == 0)) && command -v debootstrap >/dev/null && unshare --mount true; then
  say "the portable archive in bare systems"
  scripts/check_portable.sh 200
else
  say "the portable archive was not proven: that needs root, debootstrap and mount namespaces"
fi
