#!/usr/bin/env bash
# Deletes the cluster. Delete volumes first, with delete_storage.sh: a file system without its cluster still costs money.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
volumes=$(kubectl get persistentvolumes --output name)
if [[ -n $volumes ]]; then
  echo "delete_cluster: these volumes still exist; delete them first with scripts/launch/aws_eks/delete_storage.sh:" >&2
  echo "$volumes" >&2
  exit 2
fi
read -r -p "delete the cluster $CLUSTER and all that runs in it? Type its name: " answer
[[ $answer == "$CLUSTER" ]] || { echo "nothing was deleted"; exit 2; }
eksctl delete cluster --region "$AWS_REGION" --name "$CLUSTER" --wait --disable-nodegroup-eviction
