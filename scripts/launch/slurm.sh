#!/usr/bin/env bash
# Trains under Slurm, one rank per task; the program finds its peers by Slurm's own variables:
#   sbatch --nodes 8 --ntasks-per-node 8 --gpus-per-node 8 scripts/launch/slurm.sh CONFIG [OPTIONS of `bertpretrain train`]
# Two minutes before the time limit Slurm tells this script, the run saves, and the job is queued again. So it is after a lost peer, a
# killed rank or a crash. A request, data or numbers that are wrong stay down (2, 3, 4, 6), and so does a job that somebody cancelled.
# All hosts see one file system.
#SBATCH --job-name=bertpretrain
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
set -euo pipefail
: "${1:?slurm.sh CONFIG [OPTIONS]}"

export BERTPRETRAIN_LOCK_SECONDS=${BERTPRETRAIN_LOCK_SECONDS:-120} # a host just lost may hold the run's folder so long
# --kill-on-bad-exit: when a rank ends badly, the others' wait for it is over at once. --wait: but let them say why first.
srun --kill-on-bad-exit=1 --wait=60 bertpretrain train "$@" &
step=$! limit=no
trap 'limit=yes; kill -TERM $step' USR1 # srun passes it on to the tasks
code=0
wait $step || code=$?
while kill -0 $step 2>/dev/null; do # a signal ended the wait, not the step
  code=0
  wait $step || code=$?
done
echo "slurm.sh: attempt ${SLURM_RESTART_COUNT:-0} ended with exit code $code, told of the time limit: $limit"
case $code-$limit in
  *-yes | 5-no | 70-no | 13[2-9]-no) # 128 + SIGILL ... SIGSEGV: crashed or killed
    if ((code != 0 && ${SLURM_RESTART_COUNT:-0} < ${MAX_RESTARTS:-20})); then exec scontrol requeue "$SLURM_JOB_ID"; fi ;;
esac
exit "$code"
