#!/usr/bin/env bash
# Measures a small message between two ranks of this host, and computes what a step's messages take among many, in rings as before and in
# rounds as now.
#   scripts/benchmark/messages.sh [--optimizer lans|adamw] [--parameters 336e6] [--ranks 8 16 64 128] [--hops 25 100 (microseconds)]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" time_messages
exec "$python" "$root/scripts/benchmark/messages.py" "$@"
