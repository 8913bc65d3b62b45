#!/usr/bin/env bash
# Checks the hosts and their network, then starts training on them:
#   scripts/launch/aws_eks/train.sh trainjob|pytorchjob|torchelastic [--without-preflight]
# A second call resumes from the run's last checkpoint. To stop training and remove the job: scripts/launch/aws_eks/stop.sh
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
kind=${1:-}
[[ $kind =~ ^(trainjob|pytorchjob|torchelastic)$ ]] ||
  { echo "train: expected trainjob, pytorchjob or torchelastic, found '$kind'" >&2; exit 2; }
in_namespace() { kubectl --namespace "$NAMESPACE" "$@"; }

columns='POD:.metadata.name,HOST:.spec.nodeName,EXIT:.status.containerStatuses[0].state.terminated.exitCode'

# Prints the bandwidth table. If the preflight failed, also prints which pod ran on which host and how each ended.
preflight() {
  in_namespace delete job bertpretrain-preflight --ignore-not-found --wait
  scripts/launch/fill.sh scripts/launch/aws_eks/preflight.yaml | kubectl apply -f -
  until [[ $(in_namespace get job bertpretrain-preflight --output 'jsonpath={.status.conditions[*].type}') =~ (Complete|Failed) ]]; do
    sleep 5
  done
  in_namespace logs --selector batch.kubernetes.io/job-completion-index=0,app=bertpretrain-preflight --tail=-1
  [[ ${BASH_REMATCH[1]} == Complete ]] && return
  echo "train: the preflight failed; training was not started. The pods, their hosts and exit codes:" >&2
  in_namespace get pods --selector app=bertpretrain-preflight --output "custom-columns=$columns" >&2
  in_namespace logs --selector app=bertpretrain-preflight --tail=5 --prefix >&2
  exit 5
}

# A job that has ended keeps its name, and applying it again would start nothing.
remove_ended() {
  local resource=jobs.batch ended
  case $kind in trainjob) resource=trainjobs.trainer.kubeflow.org ;; pytorchjob) resource=pytorchjobs.kubeflow.org ;; esac
  ended=$(in_namespace get "$resource" bertpretrain --ignore-not-found \
    --output 'jsonpath={.status.conditions[?(@.status=="True")].type}')
  if [[ $ended =~ (Complete|Succeeded|Failed) ]]; then in_namespace delete "$resource" bertpretrain --wait; fi
}

if [[ ${2:-} != --without-preflight ]]; then preflight; fi
remove_ended
# Pods that stop.sh has left for their logs
in_namespace delete pods --selector app=bertpretrain-run --field-selector 'status.phase!=Running,status.phase!=Pending' --ignore-not-found
scripts/launch/fill.sh "scripts/launch/aws_eks/$kind.yaml" | kubectl apply -f -
