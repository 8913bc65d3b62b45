#!/usr/bin/env bash
# The first minutes on a new GPU: checks that the device computes right and learns as the CPU does, and times the training step
# beside PyTorch's. Works in the source tree and in the portable archive, and needs a python3 that has PyTorch.
#   scripts/benchmark/first_light.sh [--minutes 8] [--device cuda|cpu] [--output first_light] [--stages NAME...] [--programs DIR]
# Called again with the same output folder, it goes on with the stages that have not passed. --help lists the stages.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
python=$here/../../.venv/bin/python
[[ -x $python ]] || python=python3
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} exec "$python" -m first_light "$@"
