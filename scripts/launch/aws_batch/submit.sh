#!/usr/bin/env bash
# Registers the job definition with the present parameters.sh, and submits a job:  NODES=8 RUN=large scripts/launch/aws_batch/submit.sh
# A job submitted again after a failure resumes from the run's last checkpoint.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
filled=$(mktemp)
trap 'rm "$filled"' EXIT
scripts/launch/fill.sh scripts/launch/aws_batch/job_definition.json >"$filled"
definition=$(aws batch register-job-definition --region "$AWS_REGION" --cli-input-json "file://$filled" \
  --query jobDefinitionArn --output text)
aws batch submit-job --region "$AWS_REGION" --job-name "$RUN" --job-queue "$BATCH_NAME" --share-identifier "$SHARE" --job-definition "$definition" \
  --node-overrides "numNodes=$NODES" --query jobId --output text
