#!/usr/bin/env bash
# Creates the placement group, the launch template (EFA interfaces, file system), the compute environment and the queue of parameters.sh,
# which shares the hosts fairly between jobs' SHAREs. They cost nothing while idle: hosts start with jobs. FILE_SYSTEM must exist.
# To delete them: scripts/launch/aws_batch/delete.sh
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
filled=$(mktemp -d)
trap 'rm -r "$filled"' EXIT
fill() { scripts/launch/fill.sh "scripts/launch/aws_batch/$1" >"$filled/$1"; }

FILE_SYSTEM_MOUNT=$(aws fsx describe-file-systems --region "$AWS_REGION" --file-system-ids "$FILE_SYSTEM" \
  --query 'FileSystems[0].LustreConfiguration.MountName' --output text)
[[ -n $FILE_SYSTEM_MOUNT && $FILE_SYSTEM_MOUNT != None ]] ||
  { echo "create: FILE_SYSTEM=$FILE_SYSTEM is no FSx for Lustre file system in $AWS_REGION" >&2; exit 2; }
export FILE_SYSTEM_MOUNT
fill user_data.txt
USER_DATA=$(base64 --wrap 0 "$filled/user_data.txt")
export USER_DATA

aws ec2 describe-placement-groups --region "$AWS_REGION" --group-names "$PLACEMENT_GROUP" >/dev/null 2>&1 ||
  aws ec2 create-placement-group --region "$AWS_REGION" --group-name "$PLACEMENT_GROUP" --strategy cluster >/dev/null
fill launch_template.json
if aws ec2 describe-launch-templates --region "$AWS_REGION" --launch-template-names "$BATCH_NAME" >/dev/null 2>&1; then
  aws ec2 create-launch-template-version --region "$AWS_REGION" --cli-input-json "file://$filled/launch_template.json" >/dev/null
else
  aws ec2 create-launch-template --region "$AWS_REGION" --cli-input-json "file://$filled/launch_template.json" >/dev/null
fi
fill compute_environment.json
aws batch create-compute-environment --region "$AWS_REGION" --cli-input-json "file://$filled/compute_environment.json" >/dev/null
status() {
  aws batch describe-compute-environments --region "$AWS_REGION" --compute-environments "$BATCH_NAME" \
    --query 'computeEnvironments[0].status' --output text
}
until [[ $(status) == VALID ]]; do
  [[ $(status) != INVALID ]] || { echo "create: the compute environment is INVALID; see its statusReason" >&2; exit 2; }
  sleep 5
done
fill scheduling_policy.json
SCHEDULING_POLICY=$(aws batch create-scheduling-policy --region "$AWS_REGION" \
  --cli-input-json "file://$filled/scheduling_policy.json" --query arn --output text)
export SCHEDULING_POLICY
fill job_queue.json
aws batch create-job-queue --region "$AWS_REGION" --cli-input-json "file://$filled/job_queue.json" >/dev/null
echo "create: queue $BATCH_NAME accepts jobs of ${NODES} x ${INSTANCE_TYPE}"
