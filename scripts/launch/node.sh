#!/usr/bin/env bash
# Starts this host's ranks of a run, and ends with the run's own exit code (torchrun's is always 1):
#   node.sh train CONFIG [OPTIONS]     node.sh preflight CONFIG [OPTIONS]
# Reads the host's number and peers from AWS Batch's variables or Kubeflow's PET_* ones (torchrun reads those). Without either, the
# run has only this host. PROCESSES_PER_NODE (1): ranks of this host. OMP_NUM_THREADS (their share of its cores): threads of each rank.
# MAX_RESTARTS (3): how often torchrun restarts the ranks. TRAIN_OPTIONS: more options.
set -euo pipefail
: "${2:?node.sh SUBCOMMAND CONFIG [OPTIONS]}"
read -ra more <<<"${TRAIN_OPTIONS:-}"
set -- "$@" "${more[@]}"
output=runs/$(basename "$2" .json)
for ((i = 1; i < $#; i++)); do
  if [[ ${!i} == --output ]]; then next=$((i + 1)) && output=${!next}; fi
done

export BERTPRETRAIN_LOCK_SECONDS=${BERTPRETRAIN_LOCK_SECONDS:-120} # how long a host that was just lost may hold the run's folder
processes=${PROCESSES_PER_NODE:-1}
if [[ -z ${OMP_NUM_THREADS:-} ]]; then # torchrun would give each of several ranks one thread
  threads=$(($(nproc) / processes))
  export OMP_NUM_THREADS=$((threads > 1 ? threads : 1))
fi
ranks=(torchrun --no-python --nproc_per_node "$processes" --max-restarts "${MAX_RESTARTS:-3}")
if [[ -n ${AWS_BATCH_JOB_NUM_NODES:-} ]]; then
  # Batch watches only the main node and retries the whole job when that fails, so torchrun restarts nothing here.
  nodes=$AWS_BATCH_JOB_NUM_NODES main=$AWS_BATCH_JOB_MAIN_NODE_INDEX
  address=${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:-$(hostname -I 2>/dev/null | cut -d' ' -f1)} # Batch does not set it on the main node itself
  ranks=(torchrun --no-python --nproc_per_node "$processes" --max-restarts 0 --nnodes "$nodes"
         --node_rank "$(((AWS_BATCH_JOB_NODE_INDEX - main + nodes) % nodes))"
         --master_addr "${address:-127.0.0.1}" --master_port "${MASTER_PORT:-29500}")
  ((processes > 1)) || ranks=() # the program reads Batch's variables itself
elif [[ -z ${PET_NNODES:-}${PET_RDZV_ENDPOINT:-} ]]; then
  ranks+=(--standalone)
fi

started=$(mktemp)
trap 'rm -f "$started"' EXIT
"${ranks[@]}" bertpretrain "$@" &
trap 'kill -TERM $!' TERM INT HUP # the run saves and exits
code=0
wait $! || code=$?
while kill -0 $! 2>/dev/null; do # still running: a signal interrupted the wait
  code=0
  wait $! || code=$?
done
if ((code == 1)) && [[ $output/exit.json -nt $started ]]; then
  code=$(sed -n 's/.*"code": *\([0-9]*\).*/\1/p' "$output/exit.json" | head -1)
fi
exit "${code:-1}"
