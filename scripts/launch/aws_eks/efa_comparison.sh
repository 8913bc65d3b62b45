#!/usr/bin/env bash
# Trains the same experiment for STEPS steps with no EFA adapter, one, and four per host, and prints for each what carried the tensors, the
# average and the largest bandwidth of all_reduce (of its preflight), the rate, and the time of an epoch:
#   NODES=8 STEPS=60 scripts/launch/aws_eks/efa_comparison.sh
# ADAPTERS="0 1 4" lists the numbers. A second call skips runs that are complete; another RUN starts all again.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
source scripts/launch/aws_eks/series.sh
read -ra numbers <<<"${ADAPTERS:-0 1 4}"

logs=$(mktemp -d)
trap 'rm -r "$logs"' EXIT
# bandwidth LOG: prints the transport, and the average and the largest bus bandwidth in GB/s, of a preflight's output.
bandwidth() {
  awk '$0 == "# all_reduce" { inside = 1 }
       inside && /^# Avg bus bandwidth/ { average = $NF; inside = 0 }
       inside && $1 ~ /^[0-9]+$/ { if ($8 > most) most = $8; if ($12 > most) most = $12 }
       /^ok +transport/ { sub(/^[^:]*: /, ""); sub(/ .*/, ""); provider = $0 }
       END { printf "%s, %s, %s\n", provider ? provider : "-", average ? average : "-", most ? most : "-" }' "$1"
}

runs=''
for number in "${numbers[@]}"; do
  echo "efa_comparison: $number EFA adapters per host"
  PREFLIGHT_OPTIONS=$( ((number == 0)) || echo "--require-transport efa")
  export EFA_PER_NODE=$number PREFLIGHT_OPTIONS
  train_and_wait "${RUN}_efa_$number" "" | tee "$logs/$number"
  runs+=", \"/shared/runs/${RUN}_efa_$number\", \"$(bandwidth "$logs/$number")\""
done

# The time of an epoch: its samples at the mean rate of the second half of the steps.
# shellcheck disable=SC2016  # the table's own variables
table='import json, sys
print("adapters    provider  average GB/s  largest GB/s  sequences/s  hours per epoch")
for folder, bandwidth in zip(sys.argv[1::2], sys.argv[2::2]):
    lines = [json.loads(line) for line in open(folder + "/metrics.jsonl")]
    steps = [line for line in lines if "sequences_per_second" in line]
    steps = steps[len(steps) // 2:]
    rate = len(steps) / sum(1 / line["sequences_per_second"] for line in steps)
    epochs = [event["samples_per_epoch"] for event in map(json.loads, open(folder + "/events.jsonl")) if "samples_per_epoch" in event]
    hours = epochs[-1] / rate / 3600
    provider, average, largest = bandwidth.split(", ")
    print("%8s  %10s  %12s  %12s  %11.1f  %15.2f" % (folder.rsplit("_", 1)[1], provider, average, largest, rate, hours))'
command=$(printf '%s\n' "$table" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk '{ printf "%s\\n", $0 }')
run_beside_runs bertpretrain-efa '["python3", "-c", "'"$command"'"'"$runs]"
