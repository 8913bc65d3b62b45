#!/usr/bin/env bash
# Measures what a cross check costs (training.cross_check_every_steps), on CPUs:
#   scripts/benchmark/cross_check.sh SHARDS [--ranks 2] [--micro-batches 4] [--rounds 4]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
if [[ -z ${BERTPRETRAIN_PROGRAMS:-} ]]; then
  scripts/setup.sh >&2
  scripts/build.sh release bertpretrain >&2
fi
exec .venv/bin/python scripts/benchmark/cross_check.py "$@"
