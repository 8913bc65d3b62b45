#!/usr/bin/env bash
# Our training step against Hugging Face's on this machine, interleaved in one run; prints both sides and the ratio.
#   scripts/benchmark/training_step.sh --size base|large [--rounds 3] [--steps 3] [--padding 0.0]
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain >&2
exec .venv/bin/python scripts/benchmark/training_step.py "$@"
