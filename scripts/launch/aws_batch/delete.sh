#!/usr/bin/env bash
# Deletes the queue, the compute environment with its hosts, the launch template and the placement group. Running jobs lose the steps
# since their last checkpoint. The file system at SHARED_FOLDER stays, and costs money until you delete it.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
read -r -p "delete queue and compute environment $BATCH_NAME, and all jobs in them? Type the name: " answer
[[ $answer == "$BATCH_NAME" ]] || { echo "nothing was deleted"; exit 2; }
batch() { aws batch "$1" --region "$AWS_REGION" "${@:2}"; }
# shellcheck disable=SC2016  # the backquotes are the query's
gone() { [[ $(batch "$@" --query 'length(*[0][?status!=`DELETED`])' --output text) == 0 ]]; }
# settled WHAT...: waits until a requested change is done
settled() { until [[ $(batch "$@" --query '*[0][0].status' --output text) == VALID ]]; do sleep 5; done; }

batch update-job-queue --job-queue "$BATCH_NAME" --state DISABLED >/dev/null
settled describe-job-queues --job-queues "$BATCH_NAME"
batch delete-job-queue --job-queue "$BATCH_NAME"
until gone describe-job-queues --job-queues "$BATCH_NAME"; do sleep 5; done
for policy in $(batch list-scheduling-policies --query "schedulingPolicies[?ends_with(arn, '/$BATCH_NAME')].arn" --output text); do
  batch delete-scheduling-policy --arn "$policy"
done
batch update-compute-environment --compute-environment "$BATCH_NAME" --state DISABLED >/dev/null
settled describe-compute-environments --compute-environments "$BATCH_NAME"
batch delete-compute-environment --compute-environment "$BATCH_NAME"
until gone describe-compute-environments --compute-environments "$BATCH_NAME"; do sleep 5; done
aws ec2 delete-launch-template --region "$AWS_REGION" --launch-template-name "$BATCH_NAME" >/dev/null
aws ec2 delete-placement-group --region "$AWS_REGION" --group-name "$PLACEMENT_GROUP"
echo "delete: $BATCH_NAME is gone"
