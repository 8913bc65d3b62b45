#!/usr/bin/env bash
# Measures how much communication overlaps with computing, over links of several bandwidths; prints a table, draws a chart.
#   scripts/benchmark/overlap.sh [--shape 24x256|quickstart|large] [--steps 9] [--picture overlap.svg]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain >&2
{ ip netns add bpcheck && ip netns del bpcheck; } 2>/dev/null || { echo "overlap: this machine refuses network namespaces; run as root" >&2; exit 2; }
exec .venv/bin/python scripts/benchmark/overlap.py "$@"
