#!/usr/bin/env bash
# Links the file system's folder runs with s3://BUCKET/S3_LINK, in both directions: checkpoints, metrics and logs are copied to the bucket
# as they are written, and what is in the bucket appears in the folder. A new file system continues from a deleted one's runs in this
# way. To remove the link: scripts/launch/aws_eks/delete_s3_link.sh
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
volume=$(kubectl --namespace "$NAMESPACE" get persistentvolumeclaim bertpretrain --output 'jsonpath={.spec.volumeName}')
file_system=$(kubectl get persistentvolume "$volume" --output 'jsonpath={.spec.csi.volumeHandle}')
events='{Events=[NEW,CHANGED,DELETED]}'
link=$(aws fsx create-data-repository-association --region "$AWS_REGION" --file-system-id "$file_system" --file-system-path /runs \
  --data-repository-path "s3://$BUCKET/$S3_LINK" --batch-import-meta-data-on-create \
  --s3 "AutoImportPolicy=$events,AutoExportPolicy=$events" --query Association.AssociationId --output text)
state=''
until [[ $state == AVAILABLE ]]; do
  state=$(aws fsx describe-data-repository-associations --region "$AWS_REGION" --association-ids "$link" \
    --query 'Associations[0].Lifecycle' --output text)
  case $state in FAILED | MISCONFIGURED) echo "create_s3_link: $link is $state; see its FailureDetails" >&2; exit 5 ;; esac
  [[ $state == AVAILABLE ]] || sleep 10
done
echo "create_s3_link: /shared/runs is linked with s3://$BUCKET/$S3_LINK ($link)"
