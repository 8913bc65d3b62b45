#!/usr/bin/env bash
# Trains the same experiment for STEPS steps on 1, 2, 4, ... hosts, one after the other, each in its own run folder:
#   STEPS=60 COUNTS="1 2 4 8" scripts/launch/aws_eks/scaling.sh [--without-preflight]
# The global batch grows with the hosts, 16 x 24 for each rank, as in the published tables. To keep it constant, put
# --set batch.global_batch_size=N into TRAIN_OPTIONS.
# Then it prints the table of `bertpretrain report --scaling`. A second call skips runs that are complete; another RUN starts all again.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
read -ra counts <<<"${COUNTS:-1 2 4 8}"
in_namespace() { kubectl --namespace "$NAMESPACE" "$@"; }
name=$RUN options=$TRAIN_OPTIONS

for count in "${counts[@]}"; do
  scripts/launch/aws_eks/stop.sh
  export NODES=$count MIN_NODES=$count RUN=${name}_scaling_$count
  export TRAIN_OPTIONS="--set schedule.total_steps=${STEPS:-60} --set checkpoint.save_every_steps=0 \
    --set batch.global_batch_size=0 --set batch.micro_batch_size=16 --set batch.gradient_accumulation_steps=24 $options"
  scripts/launch/aws_eks/train.sh trainjob "$@"
  until [[ $(in_namespace get trainjob bertpretrain --output 'jsonpath={.status.conditions[?(@.status=="True")].type}') \
    =~ (Complete|Failed) ]]; do sleep 10; done
done

runs=$(printf ', "/shared/runs/%s"' "${counts[@]/#/${name}_scaling_}")
in_namespace run bertpretrain-table --rm --attach --restart=Never --image "$IMAGE" --overrides '{"spec": {
  "securityContext": {"runAsNonRoot": true, "runAsUser": 1000},
  "volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": "bertpretrain"}}],
  "containers": [{"name": "table", "image": "'"$IMAGE"'", "command": ["bertpretrain", "report", "--scaling"'"$runs"'],
                  "volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}]}}'
