#!/usr/bin/env bash
# Trains under Slurm, one rank per task; the program finds its peers by Slurm's own variables:
#   sbatch --nodes 8 --ntasks-per-node 8 --gpus-per-task 1 scripts/launch/slurm.sh CONFIG [OPTIONS of `bertpretrain train`]
# Two minutes before the time limit the run is told to save, and is queued again; so it is after a lost peer (exit code 5)
# or a rank that was killed. Any other failure stays down: starting again does not mend it. All hosts see one file system.
#SBATCH --job-name=bertpretrain
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@120
set -euo pipefail
: "${1:?slurm.sh CONFIG [OPTIONS]}"

# --kill-on-bad-exit: when a rank ends badly, the others' wait for it is over at once. --wait: but let them say why first.
code=0
srun --kill-on-bad-exit=1 --wait=60 bertpretrain train "$@" || code=$?
echo "slurm.sh: attempt ${SLURM_RESTART_COUNT:-0} ended with exit code $code"
case $code in
  5 | 137 | 143) # a peer or the network; killed, as when memory ran out; told to stop, and saved
    if ((${SLURM_RESTART_COUNT:-0} < ${MAX_RESTARTS:-20})); then exec scontrol requeue "$SLURM_JOB_ID"; fi ;;
esac
exit "$code"
