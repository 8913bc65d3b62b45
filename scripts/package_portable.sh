#!/usr/bin/env bash
# Builds one archive with the programs, the GPU modules, the GPU tests and the benchmarks, for machines that have PyTorch and no root:
#   scripts/package_portable.sh [--output FILE] [--torch MINOR]...     default: build/bertpretrain-VERSION-linux-x86_64.tar.gz
# It has the same files as the wheel (scripts/package_wheel.sh), from the same builds: for each version of PyTorch in
# scripts/portable/torch_versions.txt, or only for those that are named, as 2.11. It runs on x86-64 Linux with glibc 2.34 or newer.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
output_is=FILE
# shellcheck source=scripts/portable/request.sh
source "$(dirname "$(readlink -f "$0")")/portable/request.sh"

name=bertpretrain-$version-linux-x86_64
output=${output:-build/$name.tar.gz}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
scripts/portable/stage.sh "$root" "${minors[@]}" >&2
mkdir "$root/build"
ln -s ../bin "$root/build/release"  # where the benchmarks look for programs
ln -s scripts/benchmark/first_light.sh "$root/first_light.sh"
versions=$(IFS=,; echo "${minors[*]}")
arrow_version=$(sed -n 's/^pyarrow==\([^;]*\).*/\1/p' scripts/requirements.txt)
sed -e "s/@TORCH_VERSIONS@/${versions//,/, }/; s/@ARROW_VERSION@/$arrow_version/; s/@COMMIT@/$(git rev-parse HEAD 2>/dev/null || echo unknown)/" \
  scripts/portable/README.txt >"$root/README.txt"

mkdir -p "$(dirname "$output")"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-315532800}" -C "$work" -cf - "$name" |
  gzip -9n >"$output.partial"
size=$(check_size "$output.partial")
mv "$output.partial" "$output"
echo "package_portable: $output: $size"
