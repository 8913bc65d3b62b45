#!/usr/bin/env bash
# Installs GPU metrics (NVIDIA's DCGM exporter) for Prometheus, with Grafana, or for CloudWatch's Container Insights:
#   scripts/launch/aws_eks/monitoring.sh create prometheus|cloudwatch
#   scripts/launch/aws_eks/monitoring.sh delete prometheus|cloudwatch     also deletes the recorded metrics (CloudWatch keeps its own)
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
prometheus=(kube-prometheus-stack --namespace monitoring)
exporter=(dcgm-exporter --namespace monitoring)
addon=(addon --cluster "$CLUSTER" --region "$AWS_REGION" --name amazon-cloudwatch-observability)

case "${1:-} ${2:-}" in
  "create prometheus")
    helm upgrade --install "${prometheus[@]}" kube-prometheus-stack --repo https://prometheus-community.github.io/helm-charts \
      --create-namespace --set prometheus.prometheusSpec.serviceMonitorSelectorNilUsesHelmValues=false
    helm upgrade --install "${exporter[@]}" dcgm-exporter --repo https://nvidia.github.io/dcgm-exporter/helm-charts \
      --set serviceMonitor.enabled=true --set serviceMonitor.interval=15s --set 'nodeSelector.bertpretrain/role=worker' ;;
  "delete prometheus")
    helm uninstall "${exporter[@]}"
    helm uninstall "${prometheus[@]}" ;;
  "create cloudwatch") # includes its own DCGM exporter
    eksctl create "${addon[@]}" --attach-policy-arn arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy ;;
  "delete cloudwatch") eksctl delete "${addon[@]}" ;;
  *) echo "monitoring: expected create or delete, then prometheus or cloudwatch" >&2; exit 2 ;;
esac
