#!/usr/bin/env bash
# Stops training: the ranks save a checkpoint and exit. Removes jobs, runtime and etcd; the run's folder stays.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
remove() { kubectl --namespace "$NAMESPACE" delete "$@" --ignore-not-found; }
for kind in trainjobs.trainer.kubeflow.org trainingruntimes.trainer.kubeflow.org pytorchjobs.kubeflow.org; do
  if kubectl get "customresourcedefinition/$kind" >/dev/null 2>&1; then remove "$kind" bertpretrain; fi
done
remove job bertpretrain bertpretrain-preflight
remove deployment,service bertpretrain-etcd
remove service bertpretrain-preflight
