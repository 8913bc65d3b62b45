#!/usr/bin/env bash
# Checks that our program learns as PyTorch does: trains our model in bf16 and Hugging Face's in plain PyTorch, fp32, with the same
# initial weights, samples in the same order, schedule, and dropout 0.1. Prints both held-out curves and draws them into one chart.
# Takes about an hour on two cores.
#   scripts/benchmark/learning.sh [--steps 1500] [--output build/learning] [--mlm] [--model bert] [--length 128] [--set KEY=VALUE]...
# A second call continues.
#   --mlm: masked words alone, without next sentences; the output is then build/learning_mlm
#   --model modernbert: ModernBERT, of masked words alone and without dropout; the output is then build/learning_modernbert
#   --length: tokens per sample
#   --set: as in `train`, on both sides; for example no dropout, with which each step's loss can be compared:
#     --set model.hidden_dropout_prob=0 --set model.attention_probs_dropout_prob=0 --set training.precision=fp32
# The text is BENCHMARK_TEXT, or else the shared corpus. If BERTPRETRAIN_PROGRAMS names a folder, its programs are used, and nothing is built.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
steps=1500 output="" objective=mlm_nsp length=128 experiment=experiment settings=()
while (($#)); do
  case "$1" in
    --steps) steps=${2:?--steps needs a number}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    --mlm) objective=mlm; shift ;;
    --model)
      case ${2:?--model needs bert or modernbert} in
        bert) ;;
        modernbert) experiment=modernbert objective=mlm suffix=_modernbert ;;
        *) echo "learning: unknown model $2; known: bert, modernbert" >&2; exit 2 ;;
      esac
      shift 2 ;;
    --length) length=${2:?--length needs a number}; shift 2 ;;
    --set) settings+=(--set "${2:?--set needs KEY=VALUE}"); shift 2 ;;
    *) echo "learning: unknown option $1; known: --steps N, --output DIR, --mlm, --model NAME, --length N, --set KEY=VALUE" >&2; exit 2 ;;
  esac
done
if [[ $objective == mlm ]]; then suffix=${suffix:-_mlm} settings+=(--set data.objective=mlm); fi
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain bertpretrain_data print_sample_order draw_curves
output=$(realpath -m -- "${output:-$root/build/learning${suffix:-}}")
here=$root/scripts/benchmark/learning
settings+=(--set "data.sequence_length=$length")
build=${BERTPRETRAIN_PROGRAMS:-$root/build/release} experiment=$here/$experiment.json
"$here/make_shards.sh" "$output" "$objective" "$length" >&2
echo "== ours" >&2
"$build/bertpretrain" train "$experiment" --set "data.training_shards=$output/shards" --set "schedule.total_steps=$steps" \
  "${settings[@]}" --output "$output/ours-$steps" >&2
# The learning rate of a linear schedule's last step is 0, so a run of one step saves the initial weights.
[[ -e $output/start/checkpoints/step_00000001/COMPLETE.json ]] ||
  "$build/bertpretrain" train "$experiment" --set "data.training_shards=$output/shards" --set schedule.total_steps=1 \
    "${settings[@]}" --output "$output/start" >&2
[[ -e $output/order-$steps ]] || {
  read -r seed batch < <("$python" -c 'import json, sys; s = json.load(open(sys.argv[1])); b = s["batch"]
print(s["training"]["seed"], b["micro_batch_size"] * b["gradient_accumulation_steps"])' \
    "$output/start/checkpoints/step_00000001/settings.json")
  "$build/print_sample_order" "$output/shards" "$length" "$seed" $((steps * batch)) >"$output/order.partial"
  mv "$output/order.partial" "$output/order-$steps"
}
echo "== Hugging Face" >&2
held_out=("$output"/shards/*test*.h5)
[[ -e $output/theirs-$steps/metrics.jsonl ]] ||
  "$python" "$here/hf_training.py" "$output/start/checkpoints/step_00000001" \
    "$output/order-$steps" "$output/shards" "${held_out[0]}" "$output/theirs-$steps" "$steps"
exec "$python" "$here/compare.py" "$output/ours-$steps/metrics.jsonl" \
  "$output/theirs-$steps/metrics.jsonl" "$output/shards/manifest.json" "$build/draw_curves" "$output/learning.svg"
