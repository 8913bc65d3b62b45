#!/usr/bin/env bash
# Times one and two ranks of our program and of PyTorch's DDP + ZeroRedundancyOptimizer, interleaved; prints rates and efficiencies.
#   scripts/benchmark/scaling.sh [--size small|base|large] [--accumulation 4] [--rounds 5] [--steps 2]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain >&2
exec .venv/bin/python scripts/benchmark/scaling.py "$@"
