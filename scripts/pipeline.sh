#!/usr/bin/env bash
# Runs one round of the production loop: trains the current model on new data, evaluates it, refuses it if it is worse, exports it,
# embeds texts, and only then makes the new generation the current one.
#   scripts/pipeline.sh CONFIG      see configs/pipeline.conf
# After an interruption, run it again: it continues. MODELS/next links to the generation in progress, MODELS/current to the accepted one.
# Exit 6: the new generation is worse than the current one.
set -euo pipefail
(($# == 1)) || { echo "pipeline: a config is missing; see configs/pipeline.conf" >&2; exit 2; }
config=$1
[[ -r $config ]] || { echo "pipeline: $config cannot be read" >&2; exit 2; }
program=${BERTPRETRAIN:-$(dirname "$0")/../build/release/bertpretrain}

experiment="" shards="" held_out="" text="" models="" ranks=1 tolerance=0 vectors=mean train_options=()
case "$config" in */*) ;; *) config=./$config ;; esac
# shellcheck source=configs/pipeline.conf
source "$config"
for name in experiment shards held_out models; do
  [[ -n ${!name} ]] || { echo "pipeline: $config: $name is missing" >&2; exit 2; }
done

say() { echo "pipeline: $*" >&2; }
next=$models/next current=$models/current
mkdir -p "$models"
exec 9>"$models/.lock"
flock --nonblock 9 || { say "another pipeline is using $models; wait until it ends"; exit 2; }
if [[ ! -L $next ]]; then
  newest=$(find "$models" -maxdepth 1 -name '[0-9][0-9][0-9][0-9]' -printf '%f\n' | sort | tail -1)
  generation=$(printf '%04d' $((10#${newest:-0} + 1)))
  mkdir "$models/$generation"
  ln -s "$generation" "$next"
fi
local_ranks=()
if ((ranks > 1)); then local_ranks=(--local-ranks "$ranks"); fi

previous=()
if [[ -e $current ]]; then previous=(--set "initialization.init_from=$(readlink -f "$current")/run"); fi
say "train $next/run${previous[1]:+ (${previous[1]})}"
"$program" train "$experiment" --output "$next/run" --set "data.training_shards=$shards" "${previous[@]}" \
  "${train_options[@]}" "${local_ranks[@]}"

say "evaluate"
baseline=()
if [[ -e $current ]]; then baseline=(--baseline "$(readlink -f "$current")/run" --tolerance "$tolerance"); fi
"$program" evaluate "$next/run" --shards "$held_out" --json "${baseline[@]}" "${local_ranks[@]}" >"$next/evaluation.partial" || {
  code=$?
  ((code != 6)) || say "refused; $current is unchanged. Look at $next, then remove that link"
  exit "$code"
}
mv "$next/evaluation.partial" "$next/evaluation.json"

for format in hf torchscript; do
  if [[ ! -e $next/$format ]]; then
    say "export $format"
    if ! "$program" export "$next/run" --format $format --output "$next/$format"; then
      [[ $format == hf ]] || exit 4
      say "this model has no hf format; use the TorchScript file instead"
    fi
  fi
done

if [[ -n $text && ! -e $next/vectors.npy ]]; then
  say "embed $text"
  "$program" embed "$next/run" "$text" --vectors "$vectors" --output "$next/vectors.npy" "${local_ranks[@]}"
fi

mv -T "$next" "$current" # renames the link atomically: there is always a current generation
say "$current is now generation $(readlink "$current"): $(cat "$current/evaluation.json")"
