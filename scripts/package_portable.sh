#!/usr/bin/env bash
# Builds one archive with the programs, the GPU modules, the GPU tests and the benchmarks, for machines that have PyTorch and no root:
#   scripts/package_portable.sh [--output FILE] [--torch MINOR]...     default: build/bertpretrain-VERSION-linux-x86_64.tar.gz
# It has the same files as the wheel (scripts/package_wheel.sh), from the same builds: for each version of PyTorch in
# scripts/portable/torch_versions.txt, or only for those that are named, as 2.11. It runs on x86-64 Linux with glibc 2.34 or newer.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
output=
minors=()
while (($#)); do
  case "$1" in
    --output) output=$(realpath -m -- "${2:?--output needs a file}"); shift 2 ;;
    --torch) minors+=("${2:?--torch needs a version, as 2.11}"); shift 2 ;;
    *) echo "package_portable: unknown option '$1'; known: --output FILE, --torch MINOR" >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")/.."
limit_mb=95

if ((${#minors[@]} == 0)); then
  mapfile -t minors < <(sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' scripts/portable/torch_versions.txt)
fi
scripts/portable/build.sh "${minors[@]}" >&2
name=bertpretrain-$(sed -n 's/^CMAKE_PROJECT_VERSION:[^=]*=//p' build/release/CMakeCache.txt)-linux-x86_64
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
size=$(stat -c %s "$output.partial")
((size <= limit_mb * 1000000)) || { echo "package_portable: the archive has $((size / 1000000)) MB; expected: at most $limit_mb MB" >&2; exit 1; }
mv "$output.partial" "$output"
echo "package_portable: $output: $((size / 1000000)) MB, for PyTorch ${minors[*]}"
