#!/usr/bin/env bash
# Compares `bertpretrain plan` with real runs: memory of a rank (three models, 1, 2 and 4 ranks), and the time of a step over a
# limited link between two namespaces, fitted to two other links.
#   scripts/benchmark/plan.sh memory [--models 33M 44M 110M] [--ranks 1 2 4]
#   scripts/benchmark/plan.sh two_hosts [--steps 7] [--rounds 2]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
what=${1:-}
case "$what" in
  memory | two_hosts) shift ;;
  *) echo "plan: expected memory or two_hosts, found '$what'" >&2; exit 2 ;;
esac
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain >&2
exec .venv/bin/python "scripts/benchmark/plan_$what.py" "$@"
