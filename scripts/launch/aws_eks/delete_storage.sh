#!/usr/bin/env bash
# Deletes the shared file system: all shards, runs and checkpoints on it. Copy what you want to keep first.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
read -r -p "delete the claim bertpretrain in $NAMESPACE with ALL DATA on it? Type its name: " answer
[[ $answer == bertpretrain ]] || { echo "nothing was deleted"; exit 2; }
volume=$(kubectl --namespace "$NAMESPACE" get persistentvolumeclaim bertpretrain --output 'jsonpath={.spec.volumeName}')
kubectl --namespace "$NAMESPACE" delete job bertpretrain-storage-owner --ignore-not-found
kubectl --namespace "$NAMESPACE" delete persistentvolumeclaim bertpretrain --timeout=15m
kubectl wait --for=delete "persistentvolume/$volume" --timeout=30m
kubectl delete storageclass bertpretrain-lustre
