#!/usr/bin/env bash
# Creates the placement group, the compute environment and the queue of parameters.sh. They cost nothing while idle: hosts start with jobs.
# To delete them: scripts/launch/aws_batch/delete.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
filled=$(mktemp -d)
trap 'rm -r "$filled"' EXIT
for kind in compute_environment job_queue; do scripts/launch/fill.sh "scripts/launch/aws_batch/$kind.json" >"$filled/$kind.json"; done

aws ec2 describe-placement-groups --region "$AWS_REGION" --group-names "$PLACEMENT_GROUP" >/dev/null 2>&1 ||
  aws ec2 create-placement-group --region "$AWS_REGION" --group-name "$PLACEMENT_GROUP" --strategy cluster >/dev/null
aws batch create-compute-environment --region "$AWS_REGION" --cli-input-json "file://$filled/compute_environment.json" >/dev/null
status() {
  aws batch describe-compute-environments --region "$AWS_REGION" --compute-environments "$BATCH_NAME" \
    --query 'computeEnvironments[0].status' --output text
}
until [[ $(status) == VALID ]]; do
  [[ $(status) != INVALID ]] || { echo "create: the compute environment is INVALID; see its statusReason" >&2; exit 2; }
  sleep 5
done
aws batch create-job-queue --region "$AWS_REGION" --cli-input-json "file://$filled/job_queue.json" >/dev/null
echo "create: queue $BATCH_NAME accepts jobs of ${NODES} x ${INSTANCE_TYPE}"
