#!/usr/bin/env bash
# Creates the cluster of parameters.sh (about 20 minutes) without workers, and Kubeflow's trainer. The control plane and one small host
# cost money from then on; workers.sh starts and stops the expensive ones. To delete: scripts/launch/aws_eks/delete_cluster.sh
# Needs: eksctl, kubectl, helm, and credentials of the AWS CLI.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh

# With efaEnabled eksctl also installs EFA's device plugin.
scripts/launch/fill.sh scripts/launch/aws_eks/cluster.yaml | eksctl create cluster -f -
kubectl get namespace "$NAMESPACE" >/dev/null 2>&1 || kubectl create namespace "$NAMESPACE"
# TrainJob, and PyTorchJob of the older operator: use the one that your platform has
helm upgrade --install kubeflow-trainer oci://ghcr.io/kubeflow/charts/kubeflow-trainer --version 2.2.0 \
  --namespace kubeflow-system --create-namespace
kubectl apply --server-side -k "github.com/kubeflow/training-operator.git/manifests/overlays/standalone?ref=v1.9.3"
