#!/usr/bin/env bash
# Formats the C++ sources. With --check it changes nothing and lists those that are not formatted.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
format=.venv/bin/clang-format # other versions format differently
[[ -x $format ]] || { echo "format: $format is missing; run scripts/setup.sh --oracles" >&2; exit 1; }
how=(-i)
if [[ ${1:-} == --check ]]; then how=(--dry-run --Werror); fi
find lib apps data_tools tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -print0 | xargs -0 "$format" --style=file "${how[@]}"
