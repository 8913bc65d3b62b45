#!/usr/bin/env bash
# Checks a new GPU in a few minutes: whether it computes correctly and learns as the CPU does, and how fast the training step is
# compared with PyTorch's. Works in the source tree and in the portable archive, and needs a python3 that has PyTorch.
#   scripts/benchmark/first_light.sh [--minutes 8] [--device cuda|cpu] [--output first_light] [--stages NAME...] [--programs DIR]
# A second call with the same output folder runs the stages that have not passed. --help lists the stages.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
here=$(dirname "$(readlink -f "$0")")
python=$here/../../.venv/bin/python
[[ -x $python ]] || python=python3
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} exec "$python" -m first_light "$@"
