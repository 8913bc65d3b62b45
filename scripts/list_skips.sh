#!/usr/bin/env bash
# Prints the skipped tests and how many there are:  scripts/list_skips.sh FILE
# FILE has a line "KIND<tab>PROGRAM<tab>TEST<tab>REASON" for each skip (tests/support/skip.h); no file: no skips.
# Exit 1: a skip is not expected on this machine, for example because a package is missing that scripts/setup.sh --oracles installs.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
(($# == 1)) || { echo "usage: list_skips.sh FILE" >&2; exit 2; }
file=$(realpath -m "$1")
cd "$(dirname "$0")/.."

has_gpu() { compgen -G '/dev/nvidia[0-9]*' >/dev/null || nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }
has_flag() { grep -qw -e "$1" /proc/cpuinfo; }

has_network_namespaces() {
  local name=skips$$
  ip netns add "$name" 2>/dev/null || return 1
  local added=yes
  ip -n "$name" link add a type veth peer name b 2>/dev/null || added=no
  ip netns del "$name"
  [[ $added == yes ]]
}

# Whether a skip of this kind is expected here.
is_expected() {
  case "$1" in
    "no shared data") [[ ! -e ../shared/data ]] ;;
    "no GPU") [[ ${CUDA_VISIBLE_DEVICES-unset} =~ ^(-1)?$ ]] || ! has_gpu ;;
    "no fp8 instructions")
      ! nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | awk '$1 >= 8.9 { found = 1 } END { exit !found }' ;;
    "a GPU") [[ -e /dev/nvidiactl ]] ;;
    "no baseline instructions" | "no reference instructions") false ;;
    "no avx2 instructions") ! has_flag avx2 ;;
    "no avx512 instructions") ! has_flag avx512bw ;;
    # Intel's without AMX have them and do not use them by default (lib/kernels/cpu/instruction_set.h).
    "no avx512_bf16 instructions") ! has_flag avx512_bf16 || { has_flag GenuineIntel && ! has_flag amx_tile; } ;;
    "no amx instructions") ! has_flag amx_tile ;;
    "limited instructions" | "a sanitizer") true ;;
    "no MKL") [[ $(uname -m) != x86_64 ]] ;;
    "no mount namespaces") ! unshare --map-root-user --mount mount -t tmpfs none /mnt 2>/dev/null ;;
    "no network namespaces") ! has_network_namespaces ;;
    "no Arrow") ! compgen -G ".venv/lib/python3.*/site-packages/pyarrow/include" >/dev/null ;;
    "no browser") ! command -v chromium >/dev/null ;;
    "no root or debootstrap") ((EUID != 0)) || ! unshare --mount true 2>/dev/null ;;
    *) false ;;
  esac
}

[[ -e $file ]] || { echo "skips: none"; exit 0; }
declare -A expected=()
count=0 unexpected=0
while IFS=$'\t' read -r kind program test reason; do
  if [[ -z ${expected[$kind]-} ]]; then
    if is_expected "$kind"; then expected[$kind]=expected; else expected[$kind]="NOT EXPECTED"; fi
  fi
  count=$((count + 1))
  if [[ ${expected[$kind]} != expected ]]; then unexpected=$((unexpected + 1)); fi
  echo "skipped ($kind, ${expected[$kind]}): $program: $test${reason:+: $reason}"
done < <(sort "$file")
echo "skips: $count, $unexpected of them not expected on this machine"
((unexpected == 0)) || {
  echo "list_skips: install what is missing (scripts/setup.sh --oracles), or expect the kind in scripts/list_skips.sh" >&2
  exit 1
}
