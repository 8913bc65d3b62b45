#!/usr/bin/env bash
# Installs GPU metrics (NVIDIA's DCGM exporter) and collects all pods' logs: in Prometheus, with Grafana, and VictoriaLogs, or in
# CloudWatch's Container Insights. Prometheus also collects the runs' own numbers and the adapters' counters, with alerts and a dashboard:
#   scripts/launch/aws_eks/monitoring.sh create prometheus|cloudwatch
#   scripts/launch/aws_eks/monitoring.sh delete prometheus|cloudwatch     also deletes what was recorded (CloudWatch keeps its own)
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
prometheus=(kube-prometheus-stack --namespace monitoring)
logs=(victoria-logs --namespace monitoring) # one server, and Vector on each host, which sends it the containers' output
exporter=(dcgm-exporter --namespace monitoring)
manifests=(scripts/launch/monitoring/podmonitor.yaml scripts/launch/monitoring/alerts.yaml)
if ((EFA_PER_NODE > 0)); then manifests+=(scripts/launch/monitoring/efa_metrics.yaml); fi
addon=(addon --cluster "$CLUSTER" --region "$AWS_REGION" --name amazon-cloudwatch-observability)

case "${1:-} ${2:-}" in
  "create prometheus")
    helm upgrade --install "${prometheus[@]}" kube-prometheus-stack --repo https://prometheus-community.github.io/helm-charts \
      --create-namespace --set prometheus.prometheusSpec.serviceMonitorSelectorNilUsesHelmValues=false \
      --set prometheus.prometheusSpec.podMonitorSelectorNilUsesHelmValues=false \
      --set prometheus.prometheusSpec.ruleSelectorNilUsesHelmValues=false
    helm upgrade --install "${exporter[@]}" dcgm-exporter --repo https://nvidia.github.io/dcgm-exporter/helm-charts \
      --set serviceMonitor.enabled=true --set serviceMonitor.interval=15s --set 'nodeSelector.bertpretrain/role=worker'
    helm upgrade --install "${logs[@]}" victoria-logs-single --repo https://victoriametrics.github.io/helm-charts/ \
      --set vector.enabled=true --set server.retentionPeriod=30d
    for manifest in "${manifests[@]}"; do scripts/launch/fill.sh "$manifest" | kubectl apply -f -; done
    kubectl --namespace monitoring create configmap bertpretrain-dashboard \
      --from-file=scripts/launch/monitoring/dashboard.json --dry-run=client --output yaml | kubectl apply -f -
    kubectl --namespace monitoring label --overwrite configmap bertpretrain-dashboard grafana_dashboard=1 ;; # Grafana's sidecar finds it
  "delete prometheus")
    kubectl --namespace monitoring delete configmap bertpretrain-dashboard --ignore-not-found
    for manifest in "${manifests[@]}"; do scripts/launch/fill.sh "$manifest" | kubectl delete --ignore-not-found -f -; done
    helm uninstall "${logs[@]}"
    helm uninstall "${exporter[@]}"
    helm uninstall "${prometheus[@]}" ;;
  "create cloudwatch") # includes its own DCGM exporter, EFA metrics and logs
    eksctl create "${addon[@]}" --attach-policy-arn arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy ;;
  "delete cloudwatch") eksctl delete "${addon[@]}" ;;
  *) echo "monitoring: expected create or delete, then prometheus or cloudwatch" >&2; exit 2 ;;
esac
