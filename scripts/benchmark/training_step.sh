#!/usr/bin/env bash
# Times our training step and Hugging Face's on this machine, interleaved in one run; prints all sides and the ratios.
#   scripts/benchmark/training_step.sh --size base|large [--rounds 5] [--steps 3] [--padding 0.1] [--avx2]
#       [--sides ours ours-before ours-fp32 ours-real-lengths hf hf-compile hf-fp32 hf-real-lengths]
#       [--before PROGRAM]   the program of another build, for the side ours-before: compares two commits
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain time_parts >&2
exec .venv/bin/python scripts/benchmark/training_step.py "$@"
