#!/usr/bin/env bash
# Stops training: the ranks save a checkpoint and exit. The pods stay, with their logs, until train.sh starts the next job; the run's
# folder stays too. Removes the jobs, the runtime and etcd.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
in_namespace() { kubectl --namespace "$NAMESPACE" "$@"; }
pods() { in_namespace get pods --selector app=bertpretrain-run --field-selector "status.phase=$1" --output name; }

# First the jobs alone, so that no controller starts the pods again or deletes them.
for kind in trainjobs.trainer.kubeflow.org jobsets.jobset.x-k8s.io pytorchjobs.kubeflow.org jobs.batch; do
  kubectl get "customresourcedefinition/$kind" >/dev/null 2>&1 || [[ $kind == jobs.batch ]] || continue
  for job in $(in_namespace get "$kind" --output name | grep -E '/bertpretrain(-node-[0-9]+)?$' || true); do
    in_namespace delete "$job" --cascade=orphan --ignore-not-found
  done
done
in_namespace delete pods --selector app=bertpretrain-run --field-selector status.phase=Pending --ignore-not-found
for pod in $(pods Running); do
  in_namespace exec "$pod" -- bash -c 'kill -TERM 1' || true # node.sh; an error means that it has ended just now
done
deadline=$((SECONDS + STOP_SECONDS))
while [[ -n $(pods Running) ]]; do
  if ((SECONDS >= deadline)); then
    echo "stop: these pods still run after $STOP_SECONDS s, and are deleted: $(pods Running | paste -sd" ")" >&2
    in_namespace delete pods --selector app=bertpretrain-run --field-selector status.phase=Running
    break
  fi
  sleep "${STOP_POLL_SECONDS:-5}"
done
echo "stop: stopped; logs: kubectl --namespace $NAMESPACE logs --selector app=bertpretrain-run --prefix --tail=-1"

if kubectl get customresourcedefinition/trainingruntimes.trainer.kubeflow.org >/dev/null 2>&1; then
  in_namespace delete trainingruntimes.trainer.kubeflow.org bertpretrain --ignore-not-found
fi
in_namespace delete job bertpretrain-preflight --ignore-not-found
in_namespace delete deployment,service bertpretrain-etcd --ignore-not-found
in_namespace delete service bertpretrain-preflight --ignore-not-found
