# shellcheck shell=bash
# Sourced by package_wheel.sh and package_portable.sh with their options: sets `output` to the absolute path of --output (empty if it is not
# given) and `minors` to the versions of PyTorch, those of --torch or all of torch_versions.txt. Builds them, in the project's folder, and
# sets `version` to that of the programs. `output_is` is what --output takes: DIR or FILE.
script=$(basename "$0" .sh)
output=
minors=()
while (($#)); do
  case "$1" in
    --output) output=$(realpath -m -- "${2:?--output needs a $output_is}"); shift 2 ;;
    --torch) minors+=("${2:?--torch needs a version, as 2.11}"); shift 2 ;;
    *) echo "$script: unknown option '$1'; known: --output $output_is, --torch MINOR" >&2; exit 2 ;;
  esac
done
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
((${#minors[@]})) || mapfile -t minors < <(sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' scripts/portable/torch_versions.txt)
if [[ -z $output && $output_is == DIR ]]; then echo "$script: --output DIR is missing: the folder that the wheel is written to" >&2; exit 2; fi
scripts/portable/build.sh "${minors[@]}" >&2
# shellcheck disable=SC2034  # the sourcing script's
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[^=]*=//p' build/release/CMakeCache.txt)

# check_size FILE: the package index's limit is 100 MB (of 1,000,000 bytes).
check_size() {
  local mb=$(($(stat -c %s "$1") / 1000000))
  ((mb < 95)) || { echo "$script: $1 has $mb MB; expected: less than 95 MB" >&2; exit 1; }
  echo "$mb MB, for PyTorch ${minors[*]}"
}
