#!/usr/bin/env bash
# Compares what two architectures learn in the same time: a small ModernBERT (configs/modernbert_small.json) and a BERT of as many
# parameters, on the same text. Prints the held-out loss of both, on the same masked words, after the same minutes, and draws it.
#   scripts/benchmark/architectures.sh [--minutes 15] [--length 512] [--rates 0.001,0.0004] [--output build/architectures]
# First both take turns for a few steps. From their seconds per step follows how many steps each has; the minutes are those of these turns,
# so a machine that is busy later changes no result. A second call continues.
#   --rates: the largest learning rates, of ModernBERT and of BERT. With 0.001, this BERT learns no more than how frequent words are.
# The text is BENCHMARK_TEXT (a file, or a folder of files), or else 20 MB of the shared Wikipedia text.
# If BERTPRETRAIN_PROGRAMS names a folder, its programs are used, and nothing is built.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
minutes=15 length=512 rates=0.001,0.0004 output=""
while (($#)); do
  case "$1" in
    --minutes) minutes=${2:?--minutes needs a number}; shift 2 ;;
    --length) length=${2:?--length needs a number}; shift 2 ;;
    --rates) rates=${2:?--rates needs two numbers}; shift 2 ;;
    --output) output=${2:?--output needs a folder}; shift 2 ;;
    *) echo "architectures: unknown option $1; known: --minutes M, --length N, --rates R,R, --output DIR" >&2; exit 2 ;;
  esac
done
# shellcheck source=scripts/benchmark/prepare.sh
source "$(dirname "$(readlink -f "$0")")/prepare.sh" bertpretrain bertpretrain_data draw_curves
output=$(realpath -m -- "${output:-$root/build/architectures}")
build=${BERTPRETRAIN_PROGRAMS:-$root/build/release}
mkdir -p "$output"
text=${BENCHMARK_TEXT:-}
if [[ -z $text ]]; then
  text=$output/text.txt
  [[ -e $text ]] || "$build/bertpretrain_data" extract "$root"/../shared/data/enwiki_wikiextractor_2021/wiki_* \
    "$root"/../shared/data/enwiki_wikiextractor_2021_more/wiki_{08..19} --output "$text" >&2
fi
[[ -e $output/vocab.txt ]] || "$build/bertpretrain_data" vocabulary "$text" --size 8000 --output "$output/vocab.txt" >&2
[[ -e $output/shards/manifest.json ]] ||
  "$build/bertpretrain_data" shard "$text" --vocabulary "$output/vocab.txt" --output "$output/shards" --objective mlm --name wiki --overwrite \
    --sequence-length "$length" --max-predictions $((length * 20 / 128)) --shards 4 --held-out-shards 1 --held-out-fraction 0.03 >&2
exec "$python" "$root/scripts/benchmark/learning/architectures.py" "$output" "$build" "$minutes" "$length" "$rates"
