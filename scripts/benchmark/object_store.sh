#!/usr/bin/env bash
# Trains the quickstart's model in two ranks from the disk, through an object store (moto's S3 server) and through one with faults. Prints
# how long steps waited for data, and whether the losses are equal.
#   scripts/benchmark/object_store.sh [--steps 300] [--shards 12] [--duplicates 10] [--cache-share 1.3]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
if [[ -z "${BERTPRETRAIN_PROGRAMS:-}" ]]; then
  scripts/setup.sh --oracles >&2
  scripts/build.sh release bertpretrain bertpretrain_data >&2
fi
exec .venv/bin/python scripts/benchmark/object_store.py "$@"
