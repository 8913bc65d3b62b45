#!/usr/bin/env bash
# Trains the same experiment for STEPS steps on 1, 2, 4, ... hosts, one after the other, each in its own run folder:
#   STEPS=60 COUNTS="1 2 4 8" scripts/launch/aws_eks/scaling.sh [--without-preflight]
# The global batch grows with the hosts, 16 x 24 for each rank, as in the published tables. To keep it constant, put
# --set batch.global_batch_size=N into TRAIN_OPTIONS.
# Then it prints the table of `bertpretrain report --scaling`. A second call skips runs that are complete; another RUN starts all again.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
source scripts/launch/aws_eks/series.sh
read -ra counts <<<"${COUNTS:-1 2 4 8}"

for count in "${counts[@]}"; do
  export NODES=$count MIN_NODES=$count
  train_and_wait "${RUN}_scaling_$count" \
    "--set batch.global_batch_size=0 --set batch.micro_batch_size=16 --set batch.gradient_accumulation_steps=24" "$@"
done
runs=$(printf ', "/shared/runs/%s"' "${counts[@]/#/${RUN}_scaling_}")
run_beside_runs bertpretrain-table '["bertpretrain", "report", "--scaling"'"$runs]"
