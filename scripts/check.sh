#!/usr/bin/env bash
# What takes long, after `scripts/test.sh all`: the data tools under sanitizers, every command of the documentation, first light on the
# CPU, the portable archive in bare systems.
#   scripts/check.sh          some hours on two cores
#   scripts/check.sh --long   also the long tests, unit tests beside busy processes, fuzzing, and the wheel; a test that passed for this
#                             very commit, or program, is not run again
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
say() { echo "check: $*"; }

scripts/test.sh all

say "the data tools under the address and undefined-behaviour sanitizers"
scripts/sanitize.sh asan data_tools

# run_long KIND: the long tests of a build, those that have not passed for this commit.
run_long() {
  local kind=$1 number name folder passed
  folder="build/long-passed-$(git rev-parse --short HEAD)"
  mkdir -p "$folder"
  while read -r number name; do
    passed="$folder/$kind-$(sha256sum <<<"$name" | cut -c 1-16)"
    [[ -e $passed ]] && { say "passed before: $name"; continue; }
    ctest --test-dir "build/$kind" --output-on-failure -I "$number,$number" </dev/null
    touch "$passed"
  done < <(ctest --test-dir "build/$kind" -N -L '^long$' | sed -n 's/^ *Test *#\([0-9]*\): /\1 /p')
}

if [[ ${1:-} == --long ]]; then
  run_long release
  say "unit tests beside busy processes, stopped and continued at random"
  scripts/busy_tests.py
  say "fuzz targets, two minutes each"
  scripts/setup.sh --fuzz
  scripts/build.sh fuzz
  run_long fuzz
  say "the wheel in bare environments, for each version of PyTorch"
  scripts/check_wheel.sh --discard
fi
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
