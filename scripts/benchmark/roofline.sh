#!/usr/bin/env bash
# How fast this machine can multiply, what share of that the step's products reach, and where the rest of the time goes.
#   scripts/benchmark/roofline.sh [--size base|large|1.5b] [--device cpu|cuda] [--rounds 9] [--picture roofline.svg]
#       on a GPU also [--micro-batch 384] [--length 128|512]
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain time_parts >&2
exec .venv/bin/python scripts/benchmark/roofline.py "$@"
