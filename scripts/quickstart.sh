#!/usr/bin/env bash
# From nothing to a trained BERT: sets up, builds the two programs, turns a Wikipedia dump into shards, trains, evaluates.
#   scripts/quickstart.sh                                   the sample encyclopaedia that comes with the project
#   scripts/quickstart.sh --dump FILE [--vocabulary FILE]   a real dump (.xml, .xml.bz2)
#   ... --output DIR                                        where everything goes; quickstart/NAME otherwise
# Running it again goes on where it stopped.
set -euo pipefail
cd "$(dirname "$0")/.."

dump=data_tools/sample/encyclopaedia.xml vocabulary="" output="" size=2000 steps=2400
while (($#)); do
  case "$1" in
    --dump) dump=${2:?--dump needs a file}; size=8000 steps=1600; shift 2 ;;
    --vocabulary) vocabulary=${2:?--vocabulary needs a file}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    *) echo "quickstart: unknown option $1; known: --dump FILE, --vocabulary FILE, --output DIR" >&2; exit 2 ;;
  esac
done
for file in "$dump" ${vocabulary:+"$vocabulary"}; do
  [[ -r $file ]] || { echo "quickstart: $file cannot be read" >&2; exit 3; }
done
name=$(basename "$dump" | sed 's/\.bz2$//; s/\.xml$//')
output=${output:-quickstart/$name}
mkdir -p "$output"

scripts/setup.sh
scripts/build.sh release bertpretrain bertpretrain_data
data=build/release/bertpretrain_data

echo "== $dump -> text"
[[ -e $output/text.txt ]] || "$data" extract "$dump" --output "$output/text.txt"
echo "== text -> vocabulary"
if [[ ! -e $output/vocab.txt ]]; then
  if [[ -n $vocabulary ]]; then cp "$vocabulary" "$output/vocab.txt.partial"; mv "$output/vocab.txt.partial" "$output/vocab.txt"
  else "$data" vocabulary "$output/text.txt" --size "$size" --output "$output/vocab.txt"; fi
fi
echo "== text -> shards"
[[ -e $output/shards/manifest.json ]] ||
  "$data" shard "$output/text.txt" --vocabulary "$output/vocab.txt" --output "$output/shards" --name sample --overwrite \
    --sequence-length 128 --max-predictions 20 --duplicate-factor 10 --shards 4 --held-out-shards 1 --held-out-fraction 0.1
echo "== shards -> model"
rows=$(wc -l <"$output/vocab.txt")
build/release/bertpretrain train configs/quickstart.json --output "$output/run" \
  --set "data.training_shards=$output/shards" --set "schedule.total_steps=$steps" --set "model.vocab_size=$(((rows + 7) / 8 * 8))"
