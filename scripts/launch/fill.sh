#!/usr/bin/env bash
# Prints manifests with their ${NAMES} replaced from parameters.sh:  scripts/launch/fill.sh FILE...
# Lines marked "# efa" are for hosts with EFA adapters, "# gpu" for hosts with GPUs, "# reserved" for hosts of a capacity reservation
# and "# block" for those of a capacity block. They are omitted for other hosts. Lines marked "# queue" are for jobs of a QUEUE of Kueue,
# "# hyperpod" for clusters of SageMaker HyperPod.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
folder=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/launch/parameters.sh
source "$folder/parameters.sh"
command -v envsubst >/dev/null || { echo "fill: envsubst is missing; apt-get install gettext-base" >&2; exit 2; }

if [[ $HYPERPOD == yes && $NAMESPACE != kubeflow && $NAMESPACE != hyperpod* ]]; then
  echo "fill: NAMESPACE=$NAMESPACE: HyperPod resumes jobs only in the namespace kubeflow, or in one that begins with hyperpod" >&2
  exit 2
fi

(($#)) || { echo "fill: no FILE was given; name the manifests to fill" >&2; exit 2; }
refused=
for file in "$@"; do
  [[ -r $file ]] || { echo "fill: $file: cannot be read" >&2; exit 2; }
  lines=$(<"$file")
  ((EFA_PER_NODE > 0)) || lines=$(grep -v '# efa$' <<<"$lines")
  ((GPUS_PER_NODE > 0)) || lines=$(grep -v '# gpu$' <<<"$lines")
  [[ -n $RESERVED ]] || lines=$(grep -v '# reserved$' <<<"$lines")
  [[ -n $RESERVED && -n $BLOCK ]] || lines=$(grep -v '# block$' <<<"$lines")
  [[ -n $QUEUE ]] || lines=$(grep -v '# queue$' <<<"$lines")
  [[ $HYPERPOD == yes ]] || lines=$(grep -v '# hyperpod$' <<<"$lines")
  names=$(grep -oE '\$\{[A-Z_]+\}' <<<"$lines" | sort -u || true)
  for name in $names; do
    plain=${name:2:-1}
    [[ -n ${!plain+set} ]] || { echo "fill: $file: parameters.sh does not set $plain; set it" >&2; exit 2; }
  done
  filled=$(envsubst "$names" <<<"$lines" | sed 's/ *# \(efa\|gpu\|reserved\|block\|queue\|hyperpod\)$//')
  for name in REGISTRY BUCKET SUBNET SECURITY_GROUP INSTANCE_PROFILE FILE_SYSTEM; do
    [[ (${!name} == *00000000* || ${!name} == my-bucket) && $filled == *"${!name}"* ]] || continue
    echo "fill: $file: $name=${!name} is the placeholder of parameters.sh; set $name there or in the environment" >&2
    refused=yes
  done
  [[ -z $refused ]] || exit 2
  printf '%s\n' "$filled"
done
