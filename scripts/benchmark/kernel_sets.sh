#!/usr/bin/env bash
# Checks that all kernel sets learn alike. Trains two layers of width 128 from one seed on each set that the processor supports, and on
# the reference with three other dropout seeds. Prints the mean held-out loss of the last five evaluations of each run, draws all curves
# into one chart, and fails if the sets differ by more than those seeds do, or by 0.5 %. Takes an hour or two on two cores, most of it
# for the reference, whose dropout is plain ATen. --gpu compares the GPU with the CPU's fastest set, on which the other seeds run too,
# all without dropout in attention, because on a GPU flash attention draws its own masks.
#   scripts/benchmark/kernel_sets.sh [--gpu] [--steps 1000] [--output build/kernel_sets]      a second call continues
# The text is BENCHMARK_TEXT, or else the shared corpus.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
steps=1000 output="" gpu=no
while (($#)); do
  case "$1" in
    --steps) steps=${2:?--steps needs a number}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    --gpu) gpu=yes; shift ;;
    *) echo "kernel_sets: unknown option $1; known: --gpu, --steps N, --output DIR" >&2; exit 2 ;;
  esac
done
((steps >= 10)) || { echo "kernel_sets: --steps $steps: must be at least 10, one for each evaluation" >&2; exit 2; }
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain bertpretrain_data draw_curves
output=$(realpath -m -- "${output:-$root/build/kernel_sets}")
"$root/scripts/benchmark/learning/make_shards.sh" "$output" >&2
programs=${BERTPRETRAIN_PROGRAMS:-$root/build/release} runs=()
program=$programs/bertpretrain
model=(--set model.hidden_size=128 --set model.num_hidden_layers=2 --set model.num_attention_heads=2 --set model.intermediate_size=512)

# train NAME [OPTION...]: trains a run in the folder of that name; a finished run is unchanged.
train() {
  echo "== $1" >&2
  "$program" train "$root/scripts/benchmark/learning/experiment.json" "${model[@]}" --set training.device=cpu \
    --set "data.training_shards=$output/shards" --set "schedule.total_steps=$steps" --set batch.gradient_accumulation_steps=1 \
    --set "evaluation.every_steps=$((steps / 10))" --set "checkpoint.save_every_steps=$((steps / 10))" "${@:2}" \
    --output "$output/$steps/$1" >&2
  runs+=("$1")
}
# seeds BASELINE [OPTION...]: trains the same with three other dropout seeds.
seeds() { for seed in 1 2 3; do train "$1_dropout_seed_$seed" --set training.dropout_seed=$seed "${@:2}"; done; }

if [[ $gpu == yes ]]; then
  baseline=cpu picture=gpu.svg
  model+=(--set model.attention_probs_dropout_prob=0)
  train gpu --set training.device=cuda
  train cpu
  seeds cpu
else
  baseline=reference picture=kernel_sets.svg
  for set in amx avx512_bf16 avx512 avx2 reference; do
    if BERTPRETRAIN_CPU_CAPABILITY=$set "$program" --version >/dev/null 2>&1; then BERTPRETRAIN_CPU_CAPABILITY=$set train $set
    else echo "$set: not supported by this processor, skipped"; fi
  done
  BERTPRETRAIN_CPU_CAPABILITY=reference seeds reference
fi
exec "$python" "$root/scripts/benchmark/kernel_sets.py" "$output/$steps" "$programs/draw_curves" "$output/$picture" $baseline "${runs[@]}"
