#!/usr/bin/env bash
# How fast this machine can multiply, what share of that the step's products reach, and where the rest of the time goes.
#   scripts/benchmark/roofline.sh [--size base|large] [--rounds 9] [--picture roofline.svg]
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain time_parts >&2
exec .venv/bin/python scripts/benchmark/roofline.py "$@"
