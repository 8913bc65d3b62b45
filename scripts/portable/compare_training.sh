#!/usr/bin/env bash
# Compares what programs for different versions of PyTorch train, to the last bit:
#   scripts/portable/compare_training.sh FOLDER PROGRAM...      PROGRAM: bertpretrain of a build, or of an environment with the wheel
# The first program that is ever given for FOLDER makes the reference there: 60 steps on the CPU, in fp32, in bf16 with each of libtorch's
# libraries, and in bf16 with two ranks. Each program repeats these runs. Every step's loss and gradient norm, and the weights and
# moments of the last checkpoint, must be the reference's. Then it resumes a copy of each reference run at step 30, with the same result.
# bertpretrain_data is taken from the folder of the first program. Prints a line for each run; exits with 1 if one differs.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
(($# >= 2)) || { echo "compare_training: expected: compare_training.sh FOLDER PROGRAM...; see --help" >&2; exit 2; }
folder=$(realpath -m -- "$1")
shift
programs=()
for program in "$@"; do programs+=("$(realpath -s -- "$program")"); done
cd "$(dirname "$0")/../.."
say() { echo "compare_training: $*"; }
give_up() { echo "compare_training: $*" >&2; exit 1; }

# The setting names a library, because the measured choice may differ from run to run.
runs=(fp32 bf16-onednn bf16-mkl bf16-ranks)
options_of() {
  case $1 in
    fp32) echo "--set training.precision=fp32" ;;
    bf16-ranks) echo "--set training.cpu_matmul=onednn" ;;
    bf16-*) echo "--set training.cpu_matmul=${1#bf16-}" ;;
  esac
}

make_shards() {
  local data
  data=$(dirname "$1")/bertpretrain_data
  rm -rf "$folder/shards" "$folder/reference"
  "$data" extract data_tools/sample/encyclopaedia.xml --output "$folder/text.txt"
  "$data" vocabulary "$folder/text.txt" --size 2000 --output "$folder/vocab.txt"
  "$data" shard "$folder/text.txt" --vocabulary "$folder/vocab.txt" --output "$folder/shards" --sequence-length 128 \
    --max-predictions 20 --duplicate-factor 10 --shards 4 --held-out-shards 1 --held-out-fraction 0.1
}

# train PROGRAM RUN FOLDER: starts the run, or resumes it if FOLDER has a checkpoint.
train() {
  local options command host=(env OMP_NUM_THREADS=2) other=
  read -ra options <<<"$(options_of "$2")"
  command=("$1" train configs/small.json --output "$3" --set "data.training_shards=$folder/shards" --set schedule.total_steps=60
           --set checkpoint.save_every_steps=30 --set training.device=cpu "${options[@]}")
  if [[ $2 == bf16-ranks ]]; then
    # As the ranks of two hosts: those of --local-ranks would not use Gloo's default devices, for which libtorch's functions differ.
    host=(env OMP_NUM_THREADS=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 LOCAL_RANK=0 MASTER_ADDR=127.0.0.1 "MASTER_PORT=$((20000 + RANDOM % 10000))"
          GLOO_SOCKET_IFNAME=lo RANK=0)
    "${host[@]}" RANK=1 "${command[@]}" >"$3.other.log" 2>&1 &
    other=$!
  fi
  "${host[@]}" "${command[@]}" >"$3.log" 2>&1 || { cat "$3.log"; give_up "$1: the run $2 failed"; }
  [[ -z $other ]] || wait "$other" || { cat "$3.other.log"; give_up "$1: rank 1 of the run $2 failed"; }
}

# Prints each step's loss and gradient norm, with all digits.
numbers_of() { sed -n 's/.*"step":\([0-9]*\),.*"loss":\([^,]*\),"mlm_loss.*"grad_norm":\([^,]*\),.*/\1 \2 \3/p' "$1/metrics.jsonl"; }

# same RUN: compares the run with the reference. Prints nothing if they are equal, else where they part.
same() {
  local reference file
  reference=$folder/reference/$(basename "$1")
  diff <(numbers_of "$reference") <(numbers_of "$1") | sed -n '2s/^< /step, loss and gradient norm of the reference: /p'
  for file in model.pt optimizer.pt; do
    cmp -s "$reference/checkpoints/step_00000060/$file" "$1/checkpoints/step_00000060/$file" || echo "$file differs"
  done
}

mkdir -p "$folder"
if [[ ! -e $folder/reference/complete ]]; then
  make_shards "${programs[0]}" >"$folder/shards.log" 2>&1 || { cat "$folder/shards.log"; give_up "the shards could not be made"; }
  mkdir "$folder/reference"
  for run in "${runs[@]}"; do train "${programs[0]}" "$run" "$folder/reference/$run"; done
  "${programs[0]}" --version | sed -n 's/^libtorch //p' >"$folder/reference/complete"
fi
reference=$(cat "$folder/reference/complete")
differ=0
for program in "${programs[@]}"; do
  version=$("$program" --version | sed -n 's/^libtorch //p')
  work=$folder/$version
  for run in "${runs[@]}"; do
    for kind in "" resumed; do
      rm -rf "$work"
      mkdir "$work"
      if [[ $kind == resumed ]]; then
        cp -r "$folder/reference/$run" "$work/"
        rm -r "$work/$run/checkpoints/step_00000060"
      fi
      train "$program" "$run" "$work/$run"
      if [[ $kind == resumed ]] && ! grep -q "going on from step 30" "$work/$run.log"; then give_up "$work/$run.log: the run was not resumed"; fi
      problem=$(same "$work/$run")
      say "libtorch $version, $run${kind:+, $kind}: ${problem:-equal to libtorch $reference}; loss of step 60: $(numbers_of "$work/$run" | sed -n 's/^60 \([^ ]*\) .*/\1/p')"
      [[ -z $problem ]] || differ=1
    done
  done
  rm -rf "$work"
done
exit "$differ"
