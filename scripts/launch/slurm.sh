#!/usr/bin/env bash
# Trains under Slurm, one rank per task. The program finds its peers from Slurm's variables:
#   sbatch --nodes 8 --ntasks-per-node 8 --gpus-per-node 8 scripts/launch/slurm.sh CONFIG [OPTIONS of `bertpretrain train`]
# Two minutes before the time limit Slurm signals this script: the run saves, and the job is requeued. The job is also requeued after a
# lost peer, a killed rank or a crash. It is not requeued after exit codes 2, 3, 4 and 6, or when a person cancelled it.
# All hosts must share one file system.
#SBATCH --job-name=bertpretrain
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -euo pipefail
: "${1:?slurm.sh CONFIG [OPTIONS]}"

export BERTPRETRAIN_LOCK_SECONDS=${BERTPRETRAIN_LOCK_SECONDS:-120} # how long a host that was just lost may hold the run's folder
# --kill-on-bad-exit: when a rank fails, ends the others instead of letting them wait. --wait: lets them report the cause first.
srun --kill-on-bad-exit=1 --wait=60 bertpretrain train "$@" &
step=$! limit=no
trap 'limit=yes; kill -TERM $step' USR1 # srun passes it on to the tasks
code=0
wait $step || code=$?
while kill -0 $step 2>/dev/null; do # still running: a signal interrupted the wait
  code=0
  wait $step || code=$?
done
echo "slurm.sh: attempt ${SLURM_RESTART_COUNT:-0} ended with exit code $code; stopped for the time limit: $limit"
case $code-$limit in
  *-yes | 5-no | 70-no | 13[2-9]-no) # 128 + SIGILL ... SIGSEGV: crashed or killed
    if ((code != 0 && ${SLURM_RESTART_COUNT:-0} < ${MAX_RESTARTS:-20})); then exec scontrol requeue "$SLURM_JOB_ID"; fi ;;
esac
exit "$code"
