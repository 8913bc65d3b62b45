#!/usr/bin/env bash
# Registers the job definition with the present parameters.sh, and submits a job:  NODES=8 RUN=large scripts/launch/aws_batch/submit.sh
# A job submitted again after a failure resumes from the run's last checkpoint. A round of the production loop (scripts/pipeline.sh):
#   NODES=8 RUN=loop PIPELINE=/fsx/pipeline.json scripts/launch/aws_batch/submit.sh pipeline
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
kind=${1:-train}
[[ $kind =~ ^(train|pipeline)$ ]] || { echo "submit: expected train or pipeline, found '$kind'" >&2; exit 2; }
# Batch would let a job wait for ever that needs more than its compute environment may start.
most=$(aws batch describe-compute-environments --region "$AWS_REGION" --compute-environments "$BATCH_NAME" \
  --query 'computeEnvironments[0].computeResources.maxvCpus' --output text)
if [[ $most =~ ^[0-9]+$ ]] && ((NODES * VCPUS_PER_NODE > most)); then
  echo "submit: NODES=$NODES hosts of $VCPUS_PER_NODE vCPUs (INSTANCE_TYPE=$INSTANCE_TYPE) need $((NODES * VCPUS_PER_NODE)), but the compute" \
    "environment $BATCH_NAME may start $most, so the job would wait for ever. Raise its limit:" \
    "aws batch update-compute-environment --compute-environment $BATCH_NAME --compute-resources maxvCpus=$((NODES * VCPUS_PER_NODE))" >&2
  exit 2
fi
filled=$(mktemp)
trap 'rm "$filled"' EXIT
scripts/launch/fill.sh scripts/launch/aws_batch/job_definition.json >"$filled"
JOB_DEFINITION=$(aws batch register-job-definition --region "$AWS_REGION" --cli-input-json "file://$filled" \
  --query jobDefinitionArn --output text)
export JOB_DEFINITION
if [[ $kind == pipeline ]]; then
  scripts/launch/fill.sh scripts/launch/aws_batch/pipeline_job.json >"$filled"
  aws batch submit-job --region "$AWS_REGION" --cli-input-json "file://$filled" --query jobId --output text
else
  aws batch submit-job --region "$AWS_REGION" --job-name "$RUN" --job-queue "$BATCH_NAME" --share-identifier "$SHARE" \
    --job-definition "$JOB_DEFINITION" --node-overrides "numNodes=$NODES" --query jobId --output text
fi
