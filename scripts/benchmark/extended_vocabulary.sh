#!/usr/bin/env bash
# Continues a small model on a domain's text, with its own vocabulary and with tokens of the domain added, and prints the bits per
# character of both after equally many steps.
#   BENCHMARK_TEXT=FILE BENCHMARK_DOMAIN_TEXT=FILE scripts/benchmark/extended_vocabulary.sh [ADDED GENERAL_STEPS DOMAIN_STEPS]
# Both files have a sentence per line and an empty line after each document; some MB each.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
: "${BENCHMARK_TEXT:?expected a file of general text}" "${BENCHMARK_DOMAIN_TEXT:?expected a file of the domain}"
[[ -n ${BERTPRETRAIN_PROGRAMS:-} ]] || scripts/build.sh release bertpretrain bertpretrain_data >&2
exec python3 scripts/benchmark/extended_vocabulary.py "$@"
