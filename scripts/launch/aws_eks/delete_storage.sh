#!/usr/bin/env bash
# Deletes the shared file system with all its shards, runs and checkpoints. First copy what you want to keep.
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
