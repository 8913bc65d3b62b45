#!/usr/bin/env bash
# Times the data tools and other programs for the same work, interleaved on this machine; prints both sides and the ratios.
#   scripts/benchmark/data.sh [PART...]    PART: the name of a file in scripts/benchmark/data, e.g. tokenizer; all when absent
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain_data >&2
if (($# == 0)); then set -- scripts/benchmark/data/*.py; fi
failed=()
for part in "$@"; do
  part=$(basename "$part" .py)
  PYTHONPATH=scripts/benchmark .venv/bin/python "scripts/benchmark/data/$part.py" || failed+=("$part")
done
if ((${#failed[@]})); then echo "data.sh: failed: ${failed[*]}" >&2; exit 1; fi
