#!/usr/bin/env bash
# Certifies that the models are good, on this machine's CPU: our numbers and curves beside those of transformers and PyTorch, for
# models that others trained and for our own. Writes a page (certify.md, certify.html) with a verdict per line.
#   scripts/benchmark/certify.sh [PART...] [--output build/certify] [--quick] [--run DIR]     --help lists the parts
# A second call continues: parts that are done are not repeated. Exit status 1: a line missed its bound.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
case ${1-} in -h | --help) exec python3 "$here/certify/main.py" --help ;; esac
# shellcheck source=scripts/benchmark/prepare.sh
source "$here/prepare.sh" bertpretrain bertpretrain_data print_sample_order draw_curves test_optimizer run_optimizer
exec "$python" "$here/certify/main.py" "$@"
