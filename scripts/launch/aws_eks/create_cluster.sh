#!/usr/bin/env bash
# Creates the cluster of parameters.sh (about 20 minutes), the EFA device plugin and Kubeflow's trainer. The workers cost money from then
# on, whether they train or not. To delete them: scripts/launch/aws_eks/delete_cluster.sh
# Needs: eksctl, kubectl, helm, and credentials of the AWS CLI.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh

scripts/launch/fill.sh scripts/launch/aws_eks/cluster.yaml | eksctl create cluster -f -
kubectl get namespace "$NAMESPACE" >/dev/null 2>&1 || kubectl create namespace "$NAMESPACE"
if ((EFA_PER_NODE > 0)); then
  helm upgrade --install aws-efa-k8s-device-plugin aws-efa-k8s-device-plugin --repo https://aws.github.io/eks-charts \
    --namespace kube-system
fi
# TrainJob, and PyTorchJob of the older operator: use the one that your platform has
helm upgrade --install kubeflow-trainer oci://ghcr.io/kubeflow/charts/kubeflow-trainer --version 2.2.0 \
  --namespace kubeflow-system --create-namespace
kubectl apply --server-side -k "github.com/kubeflow/training-operator.git/manifests/overlays/standalone?ref=v1.9.3"
