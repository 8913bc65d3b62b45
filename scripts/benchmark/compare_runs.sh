#!/usr/bin/env bash
# Trains the quickstart's model for 200 steps on one rank and on three, in fp32 and bf16, on other kernel sets and with another seed, and
# prints what `bertpretrain compare` says of each pair. Some minutes on two cores. A second call continues.
#   scripts/benchmark/compare_runs.sh [--output build/compared]
# BERTPRETRAIN_PROGRAMS names a folder with built programs; nothing is built then.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
output=build/compared
while (($#)); do
  case "$1" in
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    *) echo "compare_runs: unknown option $1; known: --output DIR" >&2; exit 2 ;;
  esac
done
if [[ -z ${BERTPRETRAIN_PROGRAMS:-} ]]; then
  scripts/setup.sh >&2
  scripts/build.sh release bertpretrain bertpretrain_data >&2
fi
programs=${BERTPRETRAIN_PROGRAMS:-build/release}
mkdir -p "$output"
if [[ ! -e $output/shards/manifest.json ]]; then
  "$programs/bertpretrain_data" extract data_tools/sample/encyclopaedia.xml --output "$output/text.txt" >&2
  "$programs/bertpretrain_data" vocabulary "$output/text.txt" --size 2000 --output "$output/vocab.txt" >&2
  "$programs/bertpretrain_data" shard "$output/text.txt" --vocabulary "$output/vocab.txt" --output "$output/shards" --name sample --overwrite \
    --sequence-length 128 --max-predictions 20 --duplicate-factor 10 --shards 4 --held-out-shards 1 --held-out-fraction 0.1 >&2
fi

# train NAME KERNELS [OPTION...]: trains in $output/NAME with the kernel set KERNELS, or with the processor's newest if it is "".
train() {
  local name=$1 kernels=$2
  shift 2
  env ${kernels:+"BERTPRETRAIN_CPU_CAPABILITY=$kernels"} OMP_NUM_THREADS=1 "$programs/bertpretrain" train configs/small.json --quiet \
    --set "data.training_shards=$output/shards" --set schedule.total_steps=200 --set batch.micro_batch_size=8 --set batch.global_batch_size=24 \
    --set evaluation.every_steps=20 "$@" --output "$output/$name" >"$output/$name.log" 2>&1 || { cat "$output/$name.log" >&2; exit 1; }
}

# compare A B: prints the last two lines of `compare`, and its exit code.
compare() {
  local code=0
  "$programs/bertpretrain" compare "$output/$1" "$output/$2" >"$output/difference.txt" || code=$?
  echo "== $1 and $2: exit code $code"
  tail -2 "$output/difference.txt"
}

train fp32 "" --set training.precision=fp32
train fp32-3-ranks "" --set training.precision=fp32 --local-ranks 3
train fp32-reference reference --set training.precision=fp32
train fp32-avx2 avx2 --set training.precision=fp32
train fp32-seed-43 "" --set training.precision=fp32 --set training.seed=43
train bf16 "" --set training.precision=bf16
train bf16-3-ranks "" --set training.precision=bf16 --local-ranks 3
train bf16-reference reference --set training.precision=bf16
compare fp32 fp32-3-ranks
compare fp32 fp32-reference
compare fp32 fp32-avx2
compare bf16 bf16-3-ranks
compare bf16 bf16-reference
compare fp32 bf16
compare fp32 fp32-seed-43
