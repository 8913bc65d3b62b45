#!/usr/bin/env bash
# Builds the data of the learning benchmarks: a vocabulary of 2,000 and shards of LENGTH tokens, one of them held out. Files that exist
# are kept:  scripts/benchmark/learning/make_shards.sh FOLDER [mlm_nsp|mlm] [LENGTH]     LENGTH is 128 when absent
# The text is BENCHMARK_TEXT, or else the shared corpus.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
root=$(cd "$(dirname "$0")/../../.." && pwd)
output=${1:?which folder} objective=${2:-mlm_nsp} length=${3:-128}
program=${BERTPRETRAIN_PROGRAMS:-$root/build/release}/bertpretrain_data
text=${BENCHMARK_TEXT:-$root/../shared/data/plain/wiki_2021_sentences.txt}
[[ -r $text ]] || { echo "learning: $text cannot be read; set BENCHMARK_TEXT to about 10 MB of text" >&2; exit 3; }
mkdir -p "$output"
[[ -e $output/vocab.txt ]] || "$program" vocabulary "$text" --size 2000 --output "$output/vocab.txt"
[[ -e $output/shards/manifest.json ]] ||
  "$program" shard "$text" --vocabulary "$output/vocab.txt" --output "$output/shards" --objective "$objective" --name wiki --overwrite \
    --sequence-length "$length" --max-predictions $((length * 20 / 128)) --duplicate-factor 2 --shards 4 --held-out-shards 1 --held-out-fraction 0.05
