#!/usr/bin/env bash
# Formats the C++ sources. With --check it changes nothing and lists those that are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || { echo "format: clang-format is missing; apt-get install clang-format" >&2; exit 1; }
how=(-i)
if [[ ${1:-} == --check ]]; then how=(--dry-run --Werror); fi
find lib apps data_tools tests -name '*.h' -o -name '*.cpp' -o -name '*.cu' | sort | xargs clang-format --style=file "${how[@]}"
