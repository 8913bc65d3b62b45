#!/usr/bin/env bash
# Trains under Slurm, one rank per task. The program finds its peers from Slurm's variables:
#   sbatch --nodes 8 --ntasks-per-node 8 --gpus-per-node 8 scripts/launch/slurm.sh CONFIG [OPTIONS of `bertpretrain train`]
#   sbatch ... --job-name loop --dependency singleton scripts/launch/slurm.sh --pipeline CONFIG
# The second form runs a round of the production loop (scripts/pipeline.sh): the training on all hosts of the job, the
# other stages on the first one. With `singleton` a round waits for the one before.
# Checks hosts and network first (`bertpretrain preflight`); PREFLIGHT=no skips that. Five minutes before the time limit Slurm signals
# this script: the run saves, and the job is requeued. The job is also requeued after a lost peer, a killed rank or a crash. It is not
# requeued after exit codes 2, 3, 4 and 6, or when a person cancelled it. A host that a cross check found to compute wrongly is left out,
# and the others of the allocation go on. All hosts must share one file system.
#SBATCH --job-name=bertpretrain
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@300
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
: "${1:?slurm.sh CONFIG [OPTIONS]}"
here=$(cd "$(dirname "$0")" && pwd)
if [[ ! -e $here/run_folder.sh ]]; then # sbatch runs a copy of this script in a folder of its own
  here=$(scontrol show job "$SLURM_JOB_ID" | sed -nz 's|.*\bCommand=\(.*\)/slurm\.sh.*|\1|p')
fi
[[ -r $here/run_folder.sh ]] || { echo "slurm.sh: run_folder.sh is missing in '$here', the folder of this script" >&2; exit 2; }
# shellcheck source=scripts/launch/run_folder.sh
source "$here/run_folder.sh"

export BERTPRETRAIN_LOCK_SECONDS=${BERTPRETRAIN_LOCK_SECONDS:-120} # how long a host that was just lost may hold the run's folder
# Since Slurm 22.05 srun no longer takes over sbatch's --cpus-per-task by itself.
if [[ -n ${SLURM_CPUS_PER_TASK:-} ]]; then export SRUN_CPUS_PER_TASK=${SRUN_CPUS_PER_TASK:-$SLURM_CPUS_PER_TASK}; fi
# The folders in which AWS's installer and images have NCCL's plugin for EFA. Without it on the path, NCCL uses sockets.
for folder in ${NCCL_PLUGIN_FOLDERS:-/opt/amazon/ofi-nccl/lib64 /opt/amazon/ofi-nccl/lib /opt/amazon/ofi-nccl/lib/x86_64-linux-gnu \
  /opt/aws-ofi-nccl/lib}; do
  if compgen -G "$folder/libnccl-net*.so" >/dev/null; then
    export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FI_PROVIDER=${FI_PROVIDER:-efa}
    break
  fi
done

# run COMMAND...: runs it and sets $code.
step='' limit=no code=0 steps_options=()
run() {
  code=140 # 128 + SIGUSR2
  [[ $limit == no ]] || return 0
  code=0
  "$@" &
  step=$!
  [[ $limit == no ]] || kill -s $stop_signal $step 2>/dev/null || true # the signal came before $step was known
  while kill -0 $step 2>/dev/null; do wait $step || true; done # a signal interrupts the wait
  wait $step || code=$?                                        # bash keeps how it ended
}
# run_ranks SUBCOMMAND...: runs it in a task per rank. --kill-on-bad-exit: when a rank fails, ends the others instead of letting them
# wait. --wait: lets them report the cause first.
# HYPERPOD=yes: on a cluster of SageMaker HyperPod a broken host is replaced and the step starts again.
run_ranks() {
  local resumes=()
  if [[ ${HYPERPOD:-no} == yes ]]; then resumes=(--auto-resume=1); fi
  run srun "${resumes[@]}" --kill-on-bad-exit=1 --wait=60 "${steps_options[@]}" bertpretrain "$@"
}
# The program stops at SIGUSR2 as at SIGTERM. Srun passes SIGUSR2 on to the tasks; at SIGTERM it kills them.
stop_signal=USR2
trap 'limit=yes; [[ -z $step ]] || kill -s $stop_signal $step 2>/dev/null || true' USR1

# Ends the job with $code, or queues it again.
finish() {
  echo "slurm.sh: attempt ${SLURM_RESTART_COUNT:-0} ended with exit code $code; stopped for the time limit: $limit"
  case $code-$limit in
    [02346]-*) ;;
    *-yes | 5-no | 70-no | 13[2-9]-no) # 128 + SIGILL ... SIGSEGV: crashed or killed
      if ((${SLURM_RESTART_COUNT:-0} < ${MAX_RESTARTS:-20})); then exec scontrol requeue "$SLURM_JOB_ID"; fi ;;
  esac
  exit "$code"
}

if [[ $1 == --pipeline ]]; then
  stop_signal=TERM
  # The training is another call of this script, which must leave it to this one to queue the job again.
  export ROUND=${ROUND:-slurm.$SLURM_JOB_ID} TRAIN_LAUNCHER="env MAX_RESTARTS=0 bash ${0@Q}" TRAIN_STOP_SIGNAL=USR1
  run "$here/../pipeline.sh" "${2:?slurm.sh --pipeline CONFIG}" --until-done
  finish
fi

if [[ ${PREFLIGHT:-yes} != no ]]; then
  checked=("$1") # the options that preflight has as well
  taken=no
  for option in "${@:2}"; do
    case $option in --output* | --set*) taken=yes ;; -*) taken=no ;; esac
    if [[ $taken == yes ]]; then checked+=("$option"); fi # --set may have several values
  done
  run_ranks preflight "${checked[@]}"
fi
run_folder "$@"
# Prints the hosts that a cross check of the last attempt named (training.cross_check_every_steps).
wrong_hosts() {
  sed -n '/"suspects"/,$s/^ *"host": *"\([^"]*\)".*/\1/p' "$output/exit.json" 2>/dev/null | sort -u || true
}

if ((code == 0)); then run_ranks train "$@"; fi
# Hosts that computed wrongly are left out, and the run goes on at once on the others of this allocation.
excluded=''
while ((code == 5)) && [[ $limit == no && -n $(wrong_hosts) ]]; do
  excluded=$(printf '%s\n%s\n' "$excluded" "$(wrong_hosts)" | sed '/^$/d' | sort -u)
  left=$((SLURM_JOB_NUM_NODES - $(wc -l <<<"$excluded")))
  if ((left < 1)); then
    echo "slurm.sh: no host is left that computes correctly"
    exit 5
  fi
  steps_options=("--exclude=$(paste -sd, <<<"$excluded")" "--nodes=$left" "--ntasks=$((SLURM_NTASKS * left / SLURM_JOB_NUM_NODES))")
  echo "slurm.sh: computed wrongly: $(paste -sd' ' <<<"$excluded"); going on with ${steps_options[*]}"
  code=0
  run_ranks train "$@"
done
finish
