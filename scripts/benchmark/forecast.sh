#!/usr/bin/env bash
# Compares what `train` forecasts after a tenth of a run with the outcome: for a run that stops at a loss, one that stops before its budget
# and one that stops at its deadline.
#   scripts/benchmark/forecast.sh [--seconds 60] [--ranks 1]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
if [[ -z "${BERTPRETRAIN_PROGRAMS:-}" ]]; then
  scripts/setup.sh >&2
  scripts/build.sh release bertpretrain bertpretrain_data >&2
fi
exec .venv/bin/python scripts/benchmark/forecast.py "$@"
