#!/usr/bin/env bash
# Checks the sources without running them; nothing need be built:
#   scripts/lint.sh                  C++ formatting and shell scripts: seconds
#   scripts/lint.sh --tidy           clang-tidy over all of lib/: ten minutes on two cores
#   scripts/lint.sh --tidy-changed   over the folders of lib/ that the last 20 commits or no commit yet changed
# The tools are Python wheels that scripts/setup.sh --oracles installs, so that every machine has the same versions.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
tools=.venv/bin
say() { echo "lint: $*"; }

# Prints the folders of lib/ that --tidy-changed asks for.
changed_folders() {
  {
    git diff --name-only --no-renames HEAD~20 -- lib
    git ls-files --others --exclude-standard -- lib
  } | xargs -r -n 1 dirname | sort -u
}

if [[ ${1:-} == --tidy || ${1:-} == --tidy-changed ]]; then
  # A folder whose commands are for clang: one translation unit per folder of lib/, so that headers are read once per folder, and
  # no OpenMP, whose header the wheel of clang-tidy lacks.
  cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DBERTPRETRAIN_UNITY=ON -DBERTPRETRAIN_UNITY_SIZE=1000 \
    -DBERTPRETRAIN_GPU=OFF -DBERTPRETRAIN_TESTS=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
  units=$(sed -n 's|.*"file": "\(.*\)".*|\1|p' build/tidy/compile_commands.json |
    grep -E -e "/bertpretrain_(core|train)(_o1)?.dir/Unity/" -e "^$PWD/lib/")
  over="lib/"
  # Without that history (a shallow clone, an archive) everything counts as changed.
  if [[ $1 == --tidy-changed ]] && git rev-parse --quiet --verify HEAD~20 >/dev/null; then
    folders=$(changed_folders)
    over=$(wc -w <<<"$folders")" changed folders of lib/"
    # A unit lists its files with their paths; a file of kernels is a unit of its own.
    units=$(for unit in $units; do
      for folder in $folders; do
        if [[ $(dirname "$unit") == "$PWD/$folder" ]] || grep -qE "^#include \"$PWD/$folder/[^/]*\"\$" "$unit"; then echo "$unit"; break; fi
      done
    done)
  fi
  say "clang-tidy over $over"
  [[ -z $units ]] || xargs -P "$(nproc)" -n 1 "$tools/clang-tidy" -p build/tidy --extra-arg=-fno-openmp --quiet <<<"$units" 2>/dev/null ||
    { echo "lint: clang-tidy found the above" >&2; exit 1; }
else
  say "clang-format"
  scripts/format.sh --check
  say "shellcheck"
  find scripts .ci -type f \( -name '*.sh' -o -path .ci/run \) -print0 | xargs -0 "$tools/shellcheck" -x
fi
