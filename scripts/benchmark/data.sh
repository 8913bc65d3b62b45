#!/usr/bin/env bash
# Times the data tools and other programs for the same work, interleaved on this machine; prints both sides and the ratios.
#   scripts/benchmark/data.sh [PART...]    PART: the name of a file in scripts/benchmark/data, e.g. tokenizer; all when absent
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain_data
if (($# == 0)); then set -- "$root"/scripts/benchmark/data/*.py; fi
failed=()
for part in "$@"; do
  part=$(basename "$part" .py)
  PYTHONPATH=$root/scripts/benchmark "$python" "$root/scripts/benchmark/data/$part.py" || failed+=("$part")
done
if ((${#failed[@]})); then echo "data.sh: failed: ${failed[*]}" >&2; exit 1; fi
