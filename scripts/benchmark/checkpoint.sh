#!/usr/bin/env bash
# Compares saving and loading of model and optimizer with torch.save, torch.load and dd, and measures what a save costs training.
#   scripts/benchmark/checkpoint.sh [--size small|base|large] [--rounds 3] [--folder DIR on the disk to measure]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain time_checkpoint
exec "$python" "$root/scripts/benchmark/checkpoint.py" "$@"
