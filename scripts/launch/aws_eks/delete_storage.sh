#!/usr/bin/env bash
# Deletes the shared file system with all its shards, runs and checkpoints. First copy what you want to keep.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
read -r -p "delete the claim bertpretrain in $NAMESPACE with ALL DATA on it? Type its name: " answer
[[ $answer == bertpretrain ]] || { echo "nothing was deleted"; exit 2; }
volume=$(kubectl --namespace "$NAMESPACE" get persistentvolumeclaim bertpretrain --output 'jsonpath={.spec.volumeName}')
file_system=$(kubectl get persistentvolume "$volume" --output 'jsonpath={.spec.csi.volumeHandle}')
kubectl --namespace "$NAMESPACE" delete job bertpretrain-storage-owner --ignore-not-found
kubectl --namespace "$NAMESPACE" delete persistentvolumeclaim bertpretrain --timeout=15m
kubectl wait --for=delete "persistentvolume/$volume" --timeout=30m
kubectl delete storageclass bertpretrain-lustre
# Kubernetes forgets the volume before AWS has deleted the file system, which costs money until then.
deadline=$((SECONDS + ${DELETE_SECONDS:-3600}))
while found=$(aws fsx describe-file-systems --region "$AWS_REGION" --file-system-ids "$file_system" \
  --query 'FileSystems[0].Lifecycle' --output text 2>&1); do
  if [[ $found == FAILED ]] || ((SECONDS >= deadline)); then
    echo "delete_storage: $file_system still exists ($found) and costs money; delete it in the console" >&2
    exit 5
  fi
  sleep 10
done
[[ $found == *FileSystemNotFound* ]] || { echo "delete_storage: cannot see whether $file_system still exists: $found" >&2; exit 5; }
echo "delete_storage: $file_system is gone"
