#!/usr/bin/env bash
# Trains the same experiment for some steps on 1, 2, 4, ... hosts, one after the other, each in a run folder of its own:
#   STEPS=60 COUNTS="1 2 4 8" scripts/launch/aws_eks/scaling.sh [--without-preflight]
# The global batch grows with the hosts, as in the published tables; give --set batch.global_batch_size=N in TRAIN_OPTIONS to keep it.
# Then prints sequences per second of each, from the runs' own metrics (the first third of the steps is warm-up).
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
read -ra counts <<<"${COUNTS:-1 2 4 8}"
in_namespace() { kubectl --namespace "$NAMESPACE" "$@"; }
name=$RUN options=$TRAIN_OPTIONS

for count in "${counts[@]}"; do
  scripts/launch/aws_eks/stop.sh
  export NODES=$count MIN_NODES=$count RUN=${name}_scaling_$count
  export TRAIN_OPTIONS="--resume never --set schedule.total_steps=${STEPS:-60} --set checkpoint.save_every_steps=0 $options"
  scripts/launch/aws_eks/train.sh trainjob "$@"
  until [[ $(in_namespace get trainjob bertpretrain --output 'jsonpath={.status.conditions[?(@.status=="True")].type}') \
    =~ (Complete|Failed) ]]; do sleep 10; done
done

in_namespace run bertpretrain-table --rm --stdin --restart=Never --image "$IMAGE" --overrides '{"spec": {
  "securityContext": {"runAsNonRoot": true, "runAsUser": 1000},
  "volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": "bertpretrain"}}],
  "containers": [{"name": "table", "image": "'"$IMAGE"'", "stdin": true, "command": ["bash"],
                  "volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}]}}' <<EOF
for count in ${counts[*]}; do
  sed -n 's/.*"sequences_per_second": *\([0-9.e+]*\).*/\1/p' "/shared/runs/${name}_scaling_\$count/metrics.jsonl" |
    awk -v hosts=\$count '{rate[NR] = \$1} END {from = int(NR / 3) + 1; for (i = from; i <= NR; i++) sum += 1 / rate[i];
      printf "%3d hosts %10.1f sequences/s\n", hosts, (NR - from + 1) / sum}'
done
EOF
