#!/usr/bin/env bash
# Times `embed` and transformers on this machine, interleaved in one run; prints both sides, the ratios and how the vectors differ.
#   scripts/benchmark/embed.sh [--shape 6x384|base]... [--lines N] [--rounds 3] [--threads N]
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain
exec "$python" "$root/scripts/benchmark/embed.py" "$@"
