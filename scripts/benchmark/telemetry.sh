#!/usr/bin/env bash
# Measures what metrics.jsonl, TensorBoard, Prometheus (file and HTTP) and the progress line cost per step of the quickstart's model.
#   scripts/benchmark/telemetry.sh [STEPS]      300 when not given
# In a run without checkpoints a step's `saving_seconds` is the time from its numbers to the next step: all of it is telemetry.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
steps=${1:-300}
scripts/setup.sh >&2
scripts/build.sh release bertpretrain bertpretrain_data >&2
build=$PWD/build/release folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
  "$build"/bertpretrain_data extract data_tools/sample/encyclopaedia.xml --output "$folder/text.txt"
  "$build"/bertpretrain_data vocabulary "$folder/text.txt" --size 2000 --output "$folder/vocab.txt"
  "$build"/bertpretrain_data shard "$folder/text.txt" --vocabulary "$folder/vocab.txt" --output "$folder/shards" --sequence-length 128 \
    --max-predictions 20 --duplicate-factor 10 --shards 4 --held-out-shards 1
  "$build"/bertpretrain train configs/small.json --set "data.training_shards=$folder/shards" --set "schedule.total_steps=$steps" \
    --set checkpoint.save_every_steps=0 --set evaluation.every_steps=0 --metrics-address 127.0.0.1:9417 --output "$folder/run"
} >"$folder/log" 2>&1 || { tail -5 "$folder/log" >&2; exit 1; }
.venv/bin/python - "$folder/run/metrics.jsonl" <<'PYTHON'
import json, statistics, sys
steps = [json.loads(line) for line in open(sys.argv[1])][10:]
told, taken = ([step[key] for step in steps] for key in ("saving_seconds", "step_seconds"))
print(f"{len(steps)} steps of {1e3 * statistics.median(taken):.2f} ms (median); reporting one takes {1e6 * statistics.median(told):.0f} us: "
      f"{100 * sum(told) / sum(taken):.3f} % of all step time (goal: at most 0.5)")
PYTHON
