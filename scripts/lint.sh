#!/usr/bin/env bash
# Checks the sources without running them:  scripts/lint.sh          C++ formatting and shell scripts: seconds
#                                           scripts/lint.sh --tidy   clang-tidy over the torch-free half: minutes
# The tools are Python wheels that scripts/setup.sh --oracles installs, so that every machine has the same versions.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.venv/bin
say() { echo "lint: $*"; }

if [[ ${1:-} == --tidy ]]; then
  # Its own build folder: clang-tidy needs the compile commands, and this half without torch is configured in a second.
  cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DBERTPRETRAIN_TORCH=OFF -DBERTPRETRAIN_TESTS=OFF >/dev/null
  say "clang-tidy over the torch-free half"
  folders=$(sed -n 's/^add_sources(bertpretrain_core \(.*\))$/\1/p' CMakeLists.txt)
  [[ -n $folders ]] || { echo "lint: CMakeLists.txt has no line add_sources(bertpretrain_core FOLDER...)" >&2; exit 1; }
  read -ra folders <<<"$folders"
  find "${folders[@]/#/lib/}" data_tools -name '*.cpp' | sort |
    xargs -P "$(nproc)" -n 4 "$tools/clang-tidy" -p build/tidy --quiet 2>/dev/null ||
    { echo "lint: clang-tidy found the above" >&2; exit 1; }
else
  say "clang-format"
  scripts/format.sh --check
  say "shellcheck"
  find scripts .ci -type f \( -name '*.sh' -o -path .ci/run \) -print0 | xargs -0 "$tools/shellcheck" -x
fi
