#!/usr/bin/env bash
# Trains a small model on nodes that are network namespaces of this host, with a delay and a limited bandwidth between them, and compares
# the time of a step with what `plan` predicts.
#   scripts/benchmark/delayed_network.sh [--layouts 2x1 4x2 (nodes x ranks of a node)] [--microseconds 2500] [--mb-per-second 4] [--lost 10] [--picture FILE.svg]
# Needs root, iproute2 (ip, tc) and ping. Removes its namespaces when it ends.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain delay_relay draw_curves
exec "$python" "$root/scripts/benchmark/delayed_network.py" "$@"
