#!/usr/bin/env bash
# Sets the number of workers, and waits for them: they cost money from then on.   scripts/launch/aws_eks/workers.sh NODES
#   scripts/launch/aws_eks/workers.sh 8      before training
#   scripts/launch/aws_eks/workers.sh 0      after it: nothing but the control plane, the small host and the file system is left
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
count=${1:?workers.sh NODES}
[[ $count =~ ^[0-9]+$ ]] || { echo "workers: expected a number of hosts, found '$count'" >&2; exit 2; }
if ((count > NODES)); then most=$count; else most=$NODES; fi
eksctl scale nodegroup --region "$AWS_REGION" --cluster "$CLUSTER" --name workers --nodes "$count" --nodes-min 0 --nodes-max "$most"
ready() {
  kubectl get nodes --selector bertpretrain/role=worker \
    --output 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}' | grep -c True || true
}
deadline=$((SECONDS + ${WORKER_SECONDS:-1800}))
until (($(ready) == count)); do
  if ((SECONDS >= deadline)); then
    echo "workers: $(ready) of $count hosts are ready after ${WORKER_SECONDS:-1800} s. Those that are cost money: " \
      "see the nodegroup's events for the reason (often capacity), or call workers.sh 0" >&2
    exit 5
  fi
  sleep 10
done
echo "workers: $count hosts are ready"
