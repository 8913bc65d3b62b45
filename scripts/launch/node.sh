#!/usr/bin/env bash
# Starts this host's ranks of a run, and ends with the run's own exit code (torchrun's is always 1):
#   node.sh train CONFIG [OPTIONS]     node.sh preflight CONFIG [OPTIONS]
#   node.sh pipeline CONFIG            a round of the production loop (scripts/pipeline.sh): the first host runs all stages, the job's
#                                      other hosts take part in the training. On Kubernetes ROUND must name the job
# Reads the host's number and peers from AWS Batch's variables or Kubeflow's PET_* ones (torchrun reads those). Without either, the
# run has only this host. PROCESSES_PER_NODE (1): ranks of this host. OMP_NUM_THREADS (their share of its physical cores): threads of each rank.
# MAX_RESTARTS (3): how often torchrun restarts the ranks. TRAIN_OPTIONS: more options.
# STOP_SECONDS (120): the time between the platform's SIGTERM and its SIGKILL.
# RETRY_CODES (no): with "yes", adds 128 to exit codes after which a restart helps. Kubeflow's restart policy ExitCode needs that.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
: "${2:?node.sh SUBCOMMAND CONFIG [OPTIONS]}"

folder=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/launch/run_folder.sh
source "$folder/run_folder.sh"

if [[ $1 == pipeline ]]; then
  export TRAIN_LAUNCHER="${folder@Q}/node.sh train"
  [[ -z ${AWS_BATCH_JOB_ID:-} ]] || export ROUND=${ROUND:-${AWS_BATCH_JOB_ID%%#*}} # a child node appends its number after a #
  pipeline=$folder/pipeline.sh # in an image
  [[ -e $pipeline ]] || pipeline=$folder/../pipeline.sh
  options=()
  if [[ ${AWS_BATCH_JOB_NODE_INDEX:-0} != "${AWS_BATCH_JOB_MAIN_NODE_INDEX:-0}" || ${PET_NODE_RANK:-0} != 0 ]]; then options+=(--join); fi
  # A lost host of a Batch job does not come back by itself: Batch starts all hosts again, which is the restart then.
  if ((${AWS_BATCH_JOB_NUM_NODES:-1} == 1)); then options+=(--until-done); fi
  exec "$pipeline" "$2" "${options[@]}"
fi
read -rd '' -a more <<<"${TRAIN_OPTIONS:-}" || true # ends at the end of the text
set -- "$@" "${more[@]}"
subcommand=$1
run_folder "${@:2}"

export BERTPRETRAIN_LOCK_SECONDS=${BERTPRETRAIN_LOCK_SECONDS:-120} # how long a host that was just lost may hold the run's folder
processes=${PROCESSES_PER_NODE:-1}

if [[ -z ${OMP_NUM_THREADS:-} ]]; then # torchrun would give each of several ranks one thread
  # A second hardware thread of a core does not speed up matrix multiplications.
  cores=$(bertpretrain --physical-cores) || { echo "node.sh: bertpretrain is not in the PATH, or is too old" >&2; exit 2; }
  threads=$((cores / processes))
  export OMP_NUM_THREADS=$((threads > 1 ? threads : 1))
fi
stop_seconds=${STOP_SECONDS:-120}
export TORCH_ELASTIC_SHUTDOWN_TIMEOUT=$stop_seconds # torchrun before 2.12 does not read it, and waits for 30 s

# Prints this host's address. A Batch job's container also has a link-local interface, which leads to no other host.
own_address() {
  local address
  for address in $(hostname -i 2>/dev/null) $(hostname -I 2>/dev/null); do
    case $address in 127.* | 169.254.* | *:*) ;; *) echo "$address"; return ;; esac
  done
}

ranks=(torchrun --no-python --nproc_per_node "$processes" --max-restarts "${MAX_RESTARTS:-3}")
if [[ -n ${AWS_BATCH_JOB_NUM_NODES:-} ]]; then
  # Batch watches only the main node and retries the whole job when that fails, so torchrun restarts nothing here.
  nodes=$AWS_BATCH_JOB_NUM_NODES main=$AWS_BATCH_JOB_MAIN_NODE_INDEX
  address=${AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS:-$(own_address)} # Batch does not set it on the main node itself
  export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-^lo,docker,ecs} # else NCCL may take the link-local interface, and hangs
  ranks=(torchrun --no-python --nproc_per_node "$processes" --max-restarts 0 --nnodes "$nodes"
         --node_rank "$(((AWS_BATCH_JOB_NODE_INDEX - main + nodes) % nodes))"
         --master_addr "${address:-127.0.0.1}" --master_port "${MASTER_PORT:-29500}")
  ((processes > 1)) || ranks=() # the program reads Batch's variables itself
elif [[ -z ${PET_NNODES:-}${PET_RDZV_ENDPOINT:-} ]]; then
  ranks+=(--standalone)
fi

started=$(mktemp)
"${ranks[@]}" bertpretrain "$@" &
main_process=$!

recorded_code() {
  if [[ $output/exit.json -nt $started ]]; then sed -n 's/.*"code": *\([0-9]*\).*/\1/p' "$output/exit.json" | head -1; fi
}

# Torchrun restarts the ranks after any failure. Ends it after one that a restart cannot fix.
watch() {
  while sleep 2; do
    case $(recorded_code) in [2346]) kill -TERM "$main_process" 2>/dev/null && return ;; esac
  done
}
watch_process=''
if ((${#ranks[@]})); then
  watch &
  watch_process=$!
fi
trap 'rm -f "$started"; [[ -z $watch_process ]] || kill "$watch_process" 2>/dev/null || true' EXIT

# Sets $part to the run's folder, or to that of its newest phase.
# shellcheck disable=SC2329  # the trap calls it
find_part() {
  local folder
  part=$output
  for folder in "$output"/phases/[0-9][0-9]_*; do
    if [[ -d $folder ]]; then part=$folder; fi # sorted by number
  done
}

# shellcheck disable=SC2329  # the trap calls it
last_step() { tail -n 50 "$part/metrics.jsonl" 2>/dev/null | grep -oE '"step": ?[0-9]+' | tail -1 | grep -oE '[0-9]+' || echo 0; }

# shellcheck disable=SC2329  # the trap calls it
newest_checkpoint() {
  local file newest=0
  for file in "$part"/checkpoints/step_*/COMPLETE.json; do
    if [[ -e $file && $file != *.partial/* ]]; then newest=${file%/COMPLETE.json} newest=${newest##*step_}; fi # sorted by step
  done
  echo "$((10#$newest))"
}

# Sends SIGUSR1, which requests a checkpoint, to one of torchrun's ranks. Torchrun itself would end because of it.
# shellcheck disable=SC2329  # the trap calls it
request_checkpoint() {
  local child
  # shellcheck disable=SC2013  # words of one line
  for child in $(cat "/proc/$main_process/task/"*/children 2>/dev/null); do
    if [[ $(cat "/proc/$child/comm" 2>/dev/null) == bertpretrain ]] && kill -USR1 "$child" 2>/dev/null; then return 0; fi # within a trap a plain return has an older status
  done
  return 1
}

# Stops the run. Torchrun kills its ranks 30 s after SIGTERM, and a large model takes longer to save. So the ranks save first, while
# they train on; what torchrun then interrupts is at most the save of the few steps since.
# shellcheck disable=SC2329  # the trap calls it
stop() {
  trap '' TERM INT HUP # platforms repeat their signals
  if ((${#ranks[@]})) && [[ $subcommand == train ]]; then
    local step part deadline=$((SECONDS + stop_seconds - 45))
    find_part
    step=$(last_step)
    if ((step > $(newest_checkpoint))) && request_checkpoint; then
      echo "node.sh: stopping; waiting for a checkpoint of step $step or later" >&2
      while ((SECONDS < deadline)) && (($(newest_checkpoint) < step)) && kill -0 "$main_process" 2>/dev/null; do sleep 0.2; done
    fi
  fi
  kill -TERM "$main_process" 2>/dev/null || true
}

trap stop TERM INT HUP
code=0
while kill -0 "$main_process" 2>/dev/null; do wait "$main_process" || true; done # a signal interrupts the wait
wait "$main_process" || code=$?                                                 # bash keeps how it ended
if ((code == 1)); then code=$(recorded_code); fi
code=${code:-1}
case ${RETRY_CODES:-no}-$code in yes-0 | yes-[2346] | no-*) ;; *) ((code > 127)) || code=$((code + 128)) ;; esac
exit "$code"
