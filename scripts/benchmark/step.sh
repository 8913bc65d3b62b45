#!/usr/bin/env bash
# Times training steps of several programs on this CPU, in turns: ours, another build's, Hugging Face's; on several ranks, on some of the
# cores, beside busy processes, or in short windows. Works in the portable archive too; PyTorch's sides need transformers.
#   scripts/benchmark/step.sh [--size large] [--sides ours hf ...] [--before BUILD] [--rounds 5] [--steps 3] ...    --help lists all options
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
case ${1-} in -h | --help) exec python3 "$here/step.py" --help ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$here/prepare.sh" bertpretrain time_parts
exec "$python" "$root/scripts/benchmark/step.py" "$@"
