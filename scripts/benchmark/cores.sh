#!/usr/bin/env bash
# Times training steps on 1, 2, 4, ... and all cores of this host, ours and PyTorch's in turns, and prints which layout (ranks x threads)
# is the fastest. Works in the source tree and in the portable archive, and needs a python3 that has PyTorch; PyTorch's side also needs
# transformers.
#   scripts/benchmark/cores.sh [--size base] [--cores 1 2 ...] [--rounds 3] [--steps 3] [--oversubscribe 2] [--sides ours]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$(readlink -f "$0")")/../.."
if [[ -x scripts/setup.sh ]]; then
  scripts/setup.sh --oracles >&2
  scripts/build.sh release bertpretrain >&2
fi
python=.venv/bin/python
[[ -x $python ]] || python=python3
exec "$python" scripts/benchmark/cores.py "$@"
