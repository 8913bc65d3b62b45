#!/usr/bin/env bash
# Checks the sources without running them:  scripts/lint.sh          C++ formatting and shell scripts: seconds
#                                           scripts/lint.sh --tidy   clang-tidy over all of lib/, minutes; nothing need be built
# The tools are Python wheels that scripts/setup.sh --oracles installs, so that every machine has the same versions.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
tools=.venv/bin
say() { echo "lint: $*"; }

if [[ ${1:-} == --tidy ]]; then
  # A folder whose commands are for clang: one translation unit per folder of lib/, so that headers are read once per folder, and
  # no OpenMP, whose header the wheel of clang-tidy lacks.
  say "clang-tidy over lib/"
  cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DBERTPRETRAIN_UNITY=ON -DBERTPRETRAIN_UNITY_SIZE=1000 \
    -DBERTPRETRAIN_GPU=OFF -DBERTPRETRAIN_TESTS=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
  sed -n 's|.*"file": "\(.*\)".*|\1|p' build/tidy/compile_commands.json |
    grep -E -e "/bertpretrain_(core|train).dir/Unity/" -e "^$PWD/lib/" |
    xargs -P "$(nproc)" -n 1 "$tools/clang-tidy" -p build/tidy --extra-arg=-fno-openmp --quiet 2>/dev/null ||
    { echo "lint: clang-tidy found the above" >&2; exit 1; }
else
  say "clang-format"
  scripts/format.sh --check
  say "shellcheck"
  find scripts .ci -type f \( -name '*.sh' -o -path .ci/run \) -print0 | xargs -0 "$tools/shellcheck" -x
fi
