#!/usr/bin/env bash
# Checks the sources without running them:  scripts/lint.sh          C++ formatting and shell scripts: seconds
#                                           scripts/lint.sh --tidy   clang-tidy over the torch-free half, after scripts/build.sh asan
# The tools are Python wheels that scripts/setup.sh --oracles installs, so that every machine has the same versions.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.venv/bin
say() { echo "lint: $*"; }

if [[ ${1:-} == --tidy ]]; then
  # The sanitizers' build compiles each folder as one translation unit, so that headers are read once per folder.
  commands=build/asan/compile_commands.json
  [[ -e $commands ]] || { echo "lint: $commands is missing; run scripts/build.sh asan" >&2; exit 1; }
  say "clang-tidy over the torch-free half"
  sed -n 's|.*"file": "\(.*\)".*|\1|p' "$commands" | grep -F -e /bertpretrain_core.dir/Unity/ -e "$PWD/lib/" |
    xargs -P "$(nproc)" -n 1 "$tools/clang-tidy" -p build/asan --quiet 2>/dev/null ||
    { echo "lint: clang-tidy found the above" >&2; exit 1; }
else
  say "clang-format"
  scripts/format.sh --check
  say "shellcheck"
  find scripts .ci -type f \( -name '*.sh' -o -path .ci/run \) -print0 | xargs -0 "$tools/shellcheck" -x
fi
