#!/usr/bin/env bash
# Builds one wheel with both programs, for environments that have PyTorch:
#   scripts/package_wheel.sh --output DIR [--torch MINOR]...     DIR/bertpretrain-VERSION-py3-none-manylinux_2_34_x86_64.whl
# It has programs for each version of PyTorch in scripts/portable/torch_versions.txt, or only for those that are named, as 2.11. The start
# chooses by the PyTorch that is installed beside it. It runs on x86-64 Linux with glibc 2.34 or newer, and needs no Python to run.
# What was built before is not built again; two packagings of one build have the same bytes.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
output_is=DIR
# shellcheck source=scripts/portable/request.sh
source "$(dirname "$(readlink -f "$0")")/portable/request.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/portable/stage.sh "$work/root" "${minors[@]}" >&2
wheel=$(scripts/portable/write_wheel.py "$work/root" "$work/wheel" --version "$version" --torch "${minors[@]}")
size=$(check_size "$wheel")
mkdir -p "$output"
mv "$wheel" "$output/"
echo "package_wheel: $output/$(basename "$wheel"): $size"
