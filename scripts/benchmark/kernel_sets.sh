#!/usr/bin/env bash
# All kernel sets learn alike: from one seed, the same steps of two layers of 128 on each set that the processor has, and on the
# reference with three other seeds of dropout. Prints the mean held-out loss of the last five evaluations of each run, draws all
# curves into one picture, and fails where sets differ by more than those seeds do, or by 0.5 %. An hour or two on two cores: the
# reference, whose dropout is plain ATen, takes most of it.
#   scripts/benchmark/kernel_sets.sh [--steps 1000] [--output build/kernel_sets]      run again, it goes on where it stopped
# The text: BENCHMARK_TEXT, or the shared corpus where there is one.
set -euo pipefail
cd "$(dirname "$0")/../.."
steps=1000 output=build/kernel_sets
while (($#)); do
  case "$1" in
    --steps) steps=${2:?--steps needs a number}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    *) echo "kernel_sets: unknown option $1; known: --steps N, --output DIR" >&2; exit 2 ;;
  esac
done
((steps >= 10)) || { echo "kernel_sets: --steps $steps: must be at least 10, one for each evaluation" >&2; exit 2; }
scripts/setup.sh --oracles >&2
scripts/build.sh release bertpretrain bertpretrain_data draw_curves >&2
scripts/benchmark/learning/make_shards.sh "$output" >&2
program=build/release/bertpretrain runs=()
model=(--set model.hidden_size=128 --set model.num_hidden_layers=2 --set model.num_attention_heads=2 --set model.intermediate_size=512)

# train NAME SET [OPTION...]: a run in the folder of that name; one that has ended is left as it is.
train() {
  echo "== $1" >&2
  BERTPRETRAIN_CPU_CAPABILITY=$2 $program train scripts/benchmark/learning/experiment.json "${model[@]}" --set training.device=cpu \
    --set "data.training_shards=$output/shards" --set "schedule.total_steps=$steps" --set batch.gradient_accumulation_steps=1 \
    --set "evaluation.every_steps=$((steps / 10))" --set "checkpoint.save_every_steps=$((steps / 10))" "${@:3}" \
    --output "$output/$steps/$1" >&2
  runs+=("$1")
}
for set in amx avx512_bf16 avx512 avx2 reference; do
  if BERTPRETRAIN_CPU_CAPABILITY=$set $program --version >/dev/null 2>&1; then train $set $set
  else echo "$set: this processor has less"; fi
done
for seed in 1 2 3; do train "reference_dropout_seed_$seed" reference --set training.dropout_seed=$seed; done
exec .venv/bin/python scripts/benchmark/kernel_sets.py "$output/$steps" build/release/draw_curves "$output/kernel_sets.svg" "${runs[@]}"
