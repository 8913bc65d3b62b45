#!/usr/bin/env bash
# Prints the Debian or Ubuntu packages that have the shared libraries of programs, one per line, for an image that has only what is
# needed to run them:  scripts/list_runtime_packages.sh build/release/bertpretrain build/release/bertpretrain_data
# Libraries outside any package, such as PyTorch's, are not listed.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
: "${1:?list_runtime_packages.sh PROGRAM...}"
libraries=$(objdump --private-headers -- "$@" | awk '$1 == "NEEDED" { print $2 }' | sort -u)
paths=$(ldd -- "$@")
for library in $libraries; do
  path=$(awk -v name="$library" '$1 == name && $2 == "=>" { print $3; exit }' <<<"$paths")
  [[ $path == /* ]] || { [[ $library == ld-linux* ]] || echo "list_runtime_packages: $library was not found" >&2; continue; }
  # dpkg knows a file by the path at which its package installed it: with or without /usr, and before links
  for form in "$path" "/usr$path" "${path#/usr}" "$(readlink -f "$path")"; do
    owner=$(dpkg-query --search "$form" 2>/dev/null | head -1 | cut -d: -f1) || true
    if [[ -n $owner ]]; then echo "$owner" && break; fi
  done
done | sort -u
