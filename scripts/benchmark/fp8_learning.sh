#!/usr/bin/env bash
# Trains a small BERT on the CPU twice from one seed, in bf16 and with fp8 operands in the encoder's matmuls (emulated), and compares the
# held-out losses. The goal is at most 0.1 % after 1,500 steps. Takes about an hour on two cores; a second call continues.
#   scripts/benchmark/fp8_learning.sh [--steps 1500] [--output build/fp8_learning]
# The text is BENCHMARK_TEXT, or else the shared corpus.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
steps=1500 output=""
while (($#)); do
  case "$1" in
    --steps) steps=${2:?--steps needs a number}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    *) echo "fp8_learning: unknown option $1; known: --steps N, --output DIR" >&2; exit 2 ;;
  esac
done
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain bertpretrain_data fp8_matmuls
output=$(realpath -m -- "${output:-$root/build/fp8_learning}")
"$root/scripts/benchmark/learning/make_shards.sh" "$output" >&2
programs=$(realpath -- "${BERTPRETRAIN_PROGRAMS:-$root/build/release}")
for run in bf16 fp8; do
  preload=
  if [[ $run == fp8 ]]; then preload=./libfp8_matmuls.so; fi # by this name, because blanks separate the names in LD_PRELOAD
  echo "== $run" >&2
  cd "$programs"
  LD_PRELOAD=$preload ./bertpretrain train "$root/scripts/benchmark/learning/experiment.json" --set training.device=cpu \
    --set "data.training_shards=$output/shards" --set "schedule.total_steps=$steps" --output "$output/$run-$steps" >&2
done
exec "$python" - "$output/bf16-$steps/metrics.jsonl" "$output/fp8-$steps/metrics.jsonl" <<'PYTHON'
import json, sys
curves = [{line["step"]: line["held_out_mlm_loss"] for line in map(json.loads, open(file)) if "held_out_mlm_loss" in line} for file in sys.argv[1:]]
print(f"{'step':>6}  {'bf16':>8}  {'fp8':>8}  {'apart':>8}")
for step in sorted(curves[0].keys() & curves[1].keys()):
    bf16, fp8 = (curve[step] for curve in curves)
    print(f"{step:6}  {bf16:8.4f}  {fp8:8.4f}  {fp8 / bf16 - 1:+8.3%}")
PYTHON
