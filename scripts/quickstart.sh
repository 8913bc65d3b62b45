#!/usr/bin/env bash
# Trains a small BERT from nothing: installs what is missing, builds the two programs, turns a Wikipedia dump into shards, trains on masked
# words, and shows what the model learned.
#   scripts/quickstart.sh                                   uses the sample encyclopaedia that comes with the project
#   scripts/quickstart.sh --dump FILE [--vocabulary FILE]   uses a real dump (.xml, .xml.bz2)
#   scripts/quickstart.sh --text PATH [--vocabulary FILE]   uses your own text, a file or a folder (text, JSONL, CSV, TSV, Parquet, FASTA)
#   ... --output DIR                                        writes there instead of quickstart/NAME
#   ... --gpu                                               builds the modules for NVIDIA GPUs also where this machine shows no GPU
# Run it again to continue where it stopped. A folder that was made from another text or vocabulary is refused.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
from=$PWD
cd "$(dirname "$0")/.."

input=$PWD/data_tools/sample/encyclopaedia.xml vocabulary="" output="" size=2000 steps="" # steps: those of configs/quickstart.json
gpu=OFF
if [[ -e /dev/nvidia0 ]]; then gpu=ON; fi
while (($#)); do
  case "$1" in
    --dump) input=${2:?--dump needs a file}; size=8000 steps=4000; shift 2 ;;
    --text) input=${2:?--text needs a file or a folder}; size=8000 steps=4000; shift 2 ;;
    --vocabulary) vocabulary=${2:?--vocabulary needs a file}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    --gpu) gpu=ON; shift ;;
    *) echo "quickstart: unknown option $1; known: --dump FILE, --text PATH, --vocabulary FILE, --output DIR, --gpu" >&2; exit 2 ;;
  esac
done
for name in input vocabulary output; do # relative to the folder in which this script was started
  if [[ -n ${!name} && ${!name} != /* ]]; then printf -v "$name" %s "$from/${!name}"; fi
done
for file in "$input" ${vocabulary:+"$vocabulary"}; do
  [[ -r $file ]] || { echo "quickstart: $file cannot be read; check the path and its permissions" >&2; exit 3; }
done
name=$(basename "$input" | sed 's/\.\(bz2\|gz\|zst\)$//; s/\.\(xml\|txt\|jsonl\|csv\|tsv\)$//')
output=${output:-quickstart/$name}
mkdir -p "$output"
# What the folder is made from: the vocabulary, and the files with their sizes and times.
sources="vocabulary: ${vocabulary:-$size tokens of the text}
$(find -L "$input" ${vocabulary:+"$vocabulary"} -type f -printf '%p, %s bytes, time %T@\0' | sort -z | tr '\0' '\n')"
if [[ -e $output/text.txt ]] && ! difference=$(diff --label "made from" --label "given now" "$output/sources.txt" - <<<"$sources" 2>&1); then
  printf 'quickstart: %s was not made from what is given now; delete it, or name another folder with --output:\n%s\n' "$output" "$difference" >&2
  exit 2
fi
echo "$sources" >"$output/sources.txt"

# phase NAME: prints what begins, and how long the phase before it took.
phase_began=$SECONDS
phase() {
  if [[ -n ${phase_name:-} ]]; then echo "== $phase_name: $((SECONDS - phase_began)) s"; fi
  phase_name=$1 phase_began=$SECONDS
  if [[ -n $1 ]]; then echo "== $1"; fi
}

phase "install packages and PyTorch"
scripts/setup.sh
phase "build the programs"
BERTPRETRAIN_CMAKE_OPTIONS="-DBERTPRETRAIN_GPU=$gpu ${BERTPRETRAIN_CMAKE_OPTIONS:-}" scripts/build.sh release bertpretrain bertpretrain_data
data=build/release/bertpretrain_data

phase "extract text from $input"
[[ -e $output/text.txt ]] || "$data" extract "$input" --output "$output/text.txt"
phase "train a vocabulary"
if [[ ! -e $output/vocab.txt ]]; then
  if [[ -n $vocabulary ]]; then cp "$vocabulary" "$output/vocab.txt.partial"; mv "$output/vocab.txt.partial" "$output/vocab.txt"
  else "$data" vocabulary "$output/text.txt" --size "$size" --output "$output/vocab.txt"; fi
fi
phase "write shards"
[[ -e $output/shards/manifest.json ]] ||
  "$data" shard "$output/text.txt" --vocabulary "$output/vocab.txt" --output "$output/shards" --name sample --overwrite \
    --objective mlm --sequence-length 32 --shards 4 --held-out-shards 1 --held-out-fraction 0.1
phase "train BERT"
build/release/bertpretrain train configs/quickstart.json --output "$output/run" --set "data.training_shards=$output/shards" \
  ${steps:+--set "schedule.total_steps=$steps"}
phase "predict the middle words of five sentences of the text"
.venv/bin/python scripts/sample_sentences.py "$output/text.txt" --masked >"$output/masked.txt"
if [[ -s $output/masked.txt ]]; then build/release/bertpretrain predict "$output/run" <"$output/masked.txt"
else echo "the text has no line of 7 to 12 words, nor one of 8 to 40 characters without spaces: nothing to predict"; fi
phase "find the sentences that are nearest to five sentences of the text, by their vectors"
.venv/bin/python scripts/sample_sentences.py "$output/text.txt" >"$output/sentences.txt"
if (($(wc -l <"$output/sentences.txt") > 1)); then
  rm -f "$output/sentences.npy" # of an earlier run; `embed` replaces no file
  build/release/bertpretrain embed "$output/run" "$output/sentences.txt" --output "$output/sentences.npy" >"$output/embed.log" 2>&1 ||
    { cat "$output/embed.log" >&2; exit 1; }
  build/release/bertpretrain neighbours "$output/sentences.npy" --text "$output/sentences.txt" --spread 5 --center --top 1 \
    2>"$output/neighbours.log" || { cat "$output/neighbours.log" >&2; exit 1; }
else echo "the text has fewer than two such lines: nothing to compare"; fi
phase ""
