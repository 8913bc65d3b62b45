#!/usr/bin/env bash
# Builds one wheel with both programs, for environments that have PyTorch:
#   scripts/package_wheel.sh --output DIR [--torch MINOR]...     DIR/bertpretrain-VERSION-py3-none-manylinux_2_34_x86_64.whl
# It has programs for each version of PyTorch in scripts/portable/torch_versions.txt, or only for those that are named, as 2.11. The start
# chooses by the PyTorch that is installed beside it. It runs on x86-64 Linux with glibc 2.34 or newer, and needs no Python to run.
# What was built before is not built again; two packagings of one build have the same bytes.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
output=
minors=()
while (($#)); do
  case "$1" in
    --output) output=$(realpath -m -- "${2:?--output needs a folder}"); shift 2 ;;
    --torch) minors+=("${2:?--torch needs a version, as 2.11}"); shift 2 ;;
    *) echo "package_wheel: unknown option '$1'; known: --output DIR, --torch MINOR" >&2; exit 2 ;;
  esac
done
[[ -n $output ]] || { echo "package_wheel: --output DIR is missing: the folder that the wheel is written to" >&2; exit 2; }
cd "$(dirname "$0")/.."
limit_mb=95  # of 1,000,000 bytes: the package index's limit is 100

if ((${#minors[@]} == 0)); then
  mapfile -t minors < <(sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' scripts/portable/torch_versions.txt)
fi
scripts/portable/build.sh "${minors[@]}" >&2
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[^=]*=//p' build/release/CMakeCache.txt)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/portable/stage.sh "$work/root" "${minors[@]}" >&2
wheel=$(scripts/portable/write_wheel.py "$work/root" "$work/wheel" --version "$version" --torch "${minors[@]}")
size=$(stat -c %s "$wheel")
((size <= limit_mb * 1000000)) || { echo "package_wheel: the wheel has $((size / 1000000)) MB; expected: at most $limit_mb MB" >&2; exit 1; }
mkdir -p "$output"
mv "$wheel" "$output/"
echo "package_wheel: $output/$(basename "$wheel"): $((size / 1000000)) MB, for PyTorch ${minors[*]}"
