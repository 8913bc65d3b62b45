#!/usr/bin/env bash
# Measures this machine's peak multiply-add rate, the share of it that the step's matmuls reach, and the time of all other parts.
#   scripts/benchmark/roofline.sh [--size base|large|1.5b] [--device cpu|cuda] [--rounds 9] [--picture roofline.svg]
#       on a GPU also [--micro-batch 384] [--length 128|512]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain time_parts
exec "$python" "$root/scripts/benchmark/roofline.py" "$@"
