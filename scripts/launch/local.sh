#!/usr/bin/env bash
# Trains with all devices of this host; torchrun restarts the ranks when one is lost:
#   PROCESSES_PER_NODE=8 scripts/launch/local.sh CONFIG [OPTIONS of `bertpretrain train`]
# Without torchrun, and without restarts: `bertpretrain train CONFIG --local-ranks 8`.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
folder=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/launch/parameters.sh
source "$folder/parameters.sh"
PATH=$folder/../../build/release:$folder/../../.venv/bin:$PATH # the programs of this checkout, if this is one
exec "$folder/node.sh" train "$@"
