#!/usr/bin/env bash
# Times our training step and PyTorch's on one GPU, interleaved in one run; prints all sides, ratios and TFLOP/s.
#   scripts/benchmark/device_step.sh [--size base|large|1.5b|modernbert_base|...] [--length 128|512|...] [--rounds 5] [--steps 5] [--device cuda|cpu]
#       [--sides ours ours-warpgroup ours-bf16-residual ours-fp8 ours-fp8-bf16-residual ours-real-lengths ours-unmerged ours-unmerged-early hf
#                hf-compile hf-flash hf-flash-compile hf-real-lengths strongest strongest-real-lengths]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain
exec "$python" "$root/scripts/benchmark/device_step.py" "$@"
