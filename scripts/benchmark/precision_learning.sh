#!/usr/bin/env bash
# Trains a small BERT on the CPU from one seed in bf16, with the residual in bf16, too, with matmuls in fp8 (emulated), and with both, and
# compares the held-out losses. The goal is at most 0.1 % after 1,500 steps. Takes about an hour on two cores; a second call continues.
#   scripts/benchmark/precision_learning.sh [--steps 1500] [--output build/precision_learning]
# The text is BENCHMARK_TEXT, or else the shared corpus.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
steps=1500 output=""
while (($#)); do
  case "$1" in
    --steps) steps=${2:?--steps needs a number}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    *) echo "precision_learning: unknown option $1; known: --steps N, --output DIR" >&2; exit 2 ;;
  esac
done
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain bertpretrain_data
output=$(realpath -m -- "${output:-$root/build/precision_learning}")
"$root/scripts/benchmark/learning/make_shards.sh" "$output" >&2
programs=$(realpath -- "${BERTPRETRAIN_PROGRAMS:-$root/build/release}")
declare -A settings=([bf16]="" [bf16_residual]="training.residual_dtype=bf16" [fp8]="training.fp8_matmuls=true"
  [fp8_bf16_residual]="training.fp8_matmuls=true training.residual_dtype=bf16")
names=(bf16 bf16_residual fp8 fp8_bf16_residual) files=()
for run in "${names[@]}"; do
  echo "== $run" >&2
  options=()
  for setting in ${settings[$run]}; do options+=(--set "$setting"); done
  "$programs/bertpretrain" train "$root/scripts/benchmark/learning/experiment.json" --set training.device=cpu \
    --set "data.training_shards=$output/shards" --set "schedule.total_steps=$steps" "${options[@]}" --output "$output/$run-$steps" >&2
  files+=("$output/$run-$steps/metrics.jsonl")
done
exec "$python" - "${files[@]}" <<'PYTHON'
import json, pathlib, sys
curves = {pathlib.Path(file).parent.name.rsplit("-", 1)[0]:
          {line["step"]: line["held_out_mlm_loss"] for line in map(json.loads, open(file)) if "held_out_mlm_loss" in line} for file in sys.argv[1:]}
first = next(iter(curves.values()))
print(f"{'step':>6}" + "".join(f"{name:>28}" for name in curves))
for step in sorted(set.intersection(*(set(curve) for curve in curves.values()))):
    print(f"{step:6}" + "".join(f"{curve[step]:18.4f} {curve[step] / first[step] - 1:+9.3%}" for curve in curves.values()))
PYTHON
