#!/usr/bin/env bash
# Times the steps of two builds in short windows, in turns, while the other one is stopped: on a quiet machine and beside busy
# processes. Differences of a few percent show, which runs of whole programs hide where the machine's speed drifts.
#   scripts/benchmark/windows.sh --before PROGRAM [--rounds 20] [--steps 3] [--loads 1] [--size quick] [--precision bf16|fp32]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain >&2
exec .venv/bin/python scripts/benchmark/windows.py "$@"
