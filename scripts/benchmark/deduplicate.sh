#!/usr/bin/env bash
# Compares `bertpretrain_data deduplicate` with brute force (recall, precision), and with datasketch and text-dedup (speed,
# interleaved on this machine); measures its memory at two sizes of the corpus.
#   scripts/benchmark/deduplicate.sh [PART...]    PART: accuracy, speed, memory; all when absent
# The two Python tools are installed in a virtual environment of their own: DEDUPLICATE_VENV, by default below the folder for
# temporary files.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
[[ -n ${BERTPRETRAIN_PROGRAMS:-} ]] || scripts/build.sh release bertpretrain_data >&2
venv=${DEDUPLICATE_VENV:-${TMPDIR:-/tmp}/bertpretrain_deduplicate_venv}
if [[ ! -e $venv/complete ]]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet datasketch==2.0.0 text-dedup==0.4.0 >&2
  touch "$venv/complete"
fi
exec "$venv/bin/python" scripts/benchmark/deduplicate.py "$@"
