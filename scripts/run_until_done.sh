#!/usr/bin/env bash
# Restarts a training command until the run is done, unless a restart cannot help:
#   scripts/run_until_done.sh RUN_FOLDER -- bertpretrain train CONFIG --output RUN_FOLDER
#   scripts/run_until_done.sh RUN_FOLDER -- torchrun ... --no-python bertpretrain train CONFIG --output RUN_FOLDER
# Takes the exit code of an attempt from RUN_FOLDER/exit.json, or from the command if that file is missing. Codes 2, 3, 4 and 6, and
# those of stop signals, end this script with the same code, and so does a cross check that found this host to compute wrongly.
# It restarts after any other, at most three times without a newer checkpoint.
# With `scripts/pipeline.sh CONFIG --until-done`, RUN_FOLDER is MODELS/next, and a completed stage counts as a newer checkpoint does.
# While another process holds the folder, the program waits up to two minutes for it (BERTPRETRAIN_LOCK_SECONDS).
# Stop signals are passed on and end this script with 128 + their number, or with the run's own code if its last save failed: SIGTERM,
# SIGINT, SIGHUP, SIGQUIT, and as SIGTERM also SIGUSR2, SIGALRM and SIGXCPU, which would end torchrun. SIGUSR1 asks `bertpretrain` for a
# save; other commands do not get it.
set -uo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac

say() { echo "run_until_done: $*" >&2; }

if (($# < 3)) || [[ $2 != -- ]]; then
  say "usage: run_until_done.sh RUN_FOLDER -- COMMAND..."
  exit 2
fi
run=$1
if [[ $run == -* ]]; then run=./$run; fi
shift 2
command=$1
restarts_allowed=3                      # without progress
pause=${RUN_UNTIL_DONE_PAUSE_SECONDS:-2} # before the first restart; twice as long before each further one without progress
longest_pause=120
# A process that was just stopped, or whose host was lost, may hold the folder for a while.
export BERTPRETRAIN_LOCK_SECONDS=${BERTPRETRAIN_LOCK_SECONDS:-120}
export ROUND=${ROUND:-$(hostname).$$.$(date +%s)} # names a pipeline's round, so that no restart begins another one

# Prints the number in exit.json's "code"; nothing if the file is missing or damaged.
recorded_code() {
  sed -n 's/^ *"code": *\([0-9]\{1,3\}\),\{0,1\} *$/\1/p' "$run/exit.json" 2>/dev/null | head -n 1
}

# Prints the hosts that computed wrongly, from exit.json's "suspects" (training.cross_check_every_steps).
wrong_hosts() {
  # sed fails where a file is missing, and most runs lack the second one
  sed -n '/"suspects"/,$s/^ *"host": *"\([^"]*\)".*/\1/p' "$run/exit.json" "$run/run/exit.json" 2>/dev/null || true
}

# Prints the newest checkpoint, and the completed stages of a pipeline.
progress() {
  local folder newest=none
  for folder in "$run"/{,run/,phases/*/}checkpoints/step_*/; do
    if [[ -e ${folder}COMPLETE.json && $folder != *.partial/ ]]; then newest=$folder; fi # the glob sorts them by phase and step
  done
  echo "$newest"
  cat "$run/stages" 2>/dev/null
}

stop='' child=''
# ask_to_stop EXIT_CODE SIGNAL
ask_to_stop() {
  stop=$1
  if [[ -n $child ]]; then kill -s "$2" "$child" 2>/dev/null; fi
}
# shellcheck disable=SC2329  # the trap calls it
ask_to_save() {
  if [[ ${command##*/} != bertpretrain ]]; then say "SIGUSR1 is not passed on to $command, which it could end; send it to a rank"
  elif [[ -n $child ]]; then kill -s USR1 "$child" 2>/dev/null; fi
}
trap 'ask_to_stop 143 TERM' TERM
trap 'ask_to_stop 130 INT' INT
trap 'ask_to_stop 129 HUP' HUP # has no effect where nohup ignores it
trap 'ask_to_stop 131 QUIT' QUIT
trap 'ask_to_stop 140 TERM' USR2
trap 'ask_to_stop 142 TERM' ALRM
trap 'ask_to_stop 152 TERM' XCPU
trap 'ask_to_save' USR1

# Runs the command, waits for it, and sets $status to its status.
attempt() {
  set -m # in its own process group: a terminal's Ctrl-C reaches only this script, which passes it on once
  "$@" </dev/null &
  child=$!
  set +m
  if [[ -n $stop ]]; then kill -TERM "$child" 2>/dev/null; fi # the signal came between two attempts
  while kill -0 "$child" 2>/dev/null; do wait "$child"; done # a signal interrupts the wait
  wait "$child"                                             # bash keeps how it ended
  status=$?
  child=''
}

without_progress=0
while true; do
  before=$(progress)
  rm -f "$run/exit.json" "$run/run/exit.json" # left by an earlier attempt and already handled
  attempt "$@"
  code=$(recorded_code)
  if ((status == 0)); then
    say "done"
    exit 0
  fi
  if [[ -n $stop ]]; then
    case "${code:-$status}" in
      2 | 3 | 4 | 5 | 6 | 70)
        say "the run was stopped but ended with code ${code:-$status}: steps since its last checkpoint are lost"
        exit "${code:-$status}"
        ;;
    esac
    say "stopped by a signal (status $status)"
    exit "$stop"
  fi
  case "${code:-$status}" in
    2 | 3 | 4 | 6)
      say "ended with code ${code:-$status}: a restart cannot fix this; see the run's last message"
      exit "${code:-$status}"
      ;;
    129 | 130 | 131 | 140 | 142 | 143 | 152) # 128 + SIGHUP, SIGINT, SIGQUIT, SIGUSR2, SIGALRM, SIGTERM, SIGXCPU
      say "a stop signal ended the run (status ${code:-$status}); not restarting"
      exit "${code:-$status}"
      ;;
    126 | 127)
      say "the command was not found or cannot be executed (status $status)"
      exit "$status"
      ;;
  esac

  if wrong_hosts | grep -qxF "$(hostname)"; then
    say "this host, $(hostname), computes wrongly: not restarting on it; start the same command on another host"
    exit "${code:-$status}"
  fi

  if [[ $(progress) != "$before" ]]; then
    without_progress=0
  else
    without_progress=$((without_progress + 1))
  fi
  if ((without_progress > restarts_allowed)); then
    say "ended with code ${code:-$status} after $restarts_allowed restarts without a newer checkpoint; not restarting. Look at $run/log.txt"
    exit "${code:-$status}"
  fi
  wait_seconds=$(awk -v p="$pause" -v n="$without_progress" -v m="$longest_pause" 'BEGIN { s = p * 2 ^ n; print s < m ? s : m }')
  say "ended with code ${code:-$status} (status $status); restarting in $wait_seconds s;" \
    "$((restarts_allowed - without_progress)) more restarts without progress are allowed"
  export BERTPRETRAIN_RESTART=1 # the program then ignores a --resume that an earlier attempt has applied
  sleep "$wait_seconds" &
  wait $!
  if [[ -n $stop ]]; then exit "$stop"; fi
done
