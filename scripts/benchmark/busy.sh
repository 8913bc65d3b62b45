#!/usr/bin/env bash
# Times training steps on a quiet machine and beside busy processes, ours and Hugging Face's in turns, and two runs side by side.
#   scripts/benchmark/busy.sh [--loads 1 2 4] [--rounds 3] [--steps 30] [--size quick] [--precision fp32|bf16]
#       [--sides ours before hf] [--before PROGRAM]
# The fair share of T threads beside L busy ones on C cores is C x T / (T + L) cores, at most T.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain >&2
exec .venv/bin/python scripts/benchmark/busy.py "$@"
