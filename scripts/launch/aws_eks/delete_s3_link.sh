#!/usr/bin/env bash
# Removes the link between the folder runs and the bucket. The files stay on both sides.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
read -r -p "remove the link of /shared/runs with s3://$BUCKET/$S3_LINK? Type the bucket's name: " answer
[[ $answer == "$BUCKET" ]] || { echo "nothing was deleted"; exit 2; }
volume=$(kubectl --namespace "$NAMESPACE" get persistentvolumeclaim bertpretrain --output 'jsonpath={.spec.volumeName}')
file_system=$(kubectl get persistentvolume "$volume" --output 'jsonpath={.spec.csi.volumeHandle}')
links() {
  aws fsx describe-data-repository-associations --region "$AWS_REGION" --filters "Name=file-system-id,Values=$file_system" \
    --query 'Associations[].AssociationId' --output text
}
for link in $(links); do
  aws fsx delete-data-repository-association --region "$AWS_REGION" --association-id "$link" --no-delete-data-in-file-system >/dev/null
done
while [[ -n $(links) ]]; do sleep 10; done
echo "delete_s3_link: the link is gone"
