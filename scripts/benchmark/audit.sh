#!/usr/bin/env bash
# Audits a run of 2,000 steps of a tiny model with restarts, kills and changes of the number of ranks: random stretches, other kernels,
# another number of ranks, and copies of the run in which one bit was changed. Prints a table, and the time per audited step.
#   scripts/benchmark/audit.sh [--steps 2000] [--stretches 20] [--output DIR to keep the run]
# Exit status 1: an audit gave another verdict than it must.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
if [[ -z ${BERTPRETRAIN_PROGRAMS:-} ]]; then
  scripts/setup.sh >&2
  scripts/build.sh release bertpretrain bertpretrain_data >&2
fi
exec .venv/bin/python scripts/benchmark/audit.py "$@"
