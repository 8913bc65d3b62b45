#!/usr/bin/env bash
# Installs the wheel into bare virtual environments (in build/clean_wheel), one without PyTorch and one for each version of it, and runs
# there: refusals, data, a training that is killed and resumed, evaluation, export. Then it compares what the versions train, to the last
# bit (scripts/portable/compare_training.sh), with the version of scripts/requirements.txt if it is among them, else with the first.
#   scripts/check_wheel.sh [--wheel FILE] [--steps N] [--discard] [MINOR...]     MINOR: versions of PyTorch, as 2.11; default: all of the wheel's
# Builds the wheel, for these versions, unless FILE is given. Needs a reachable package index, and 5 to 8 GB for each version. The environments
# are kept for the next time, without the wheel; --discard deletes each after its checks. Prints minutes, megabytes and losses.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
wheel='' steps=60 discard=no
minors=()
while (($#)); do
  case "$1" in
    --wheel) wheel=$(realpath -m -- "${2:?--wheel needs a file}"); shift 2 ;;
    --steps) steps=${2:?--steps needs a number}; shift 2 ;;
    --discard) discard=yes; shift ;;
    -*) echo "check_wheel: unknown option '$1'; known: --wheel FILE, --steps N, --discard" >&2; exit 2 ;;
    *) minors+=("$1"); shift ;;
  esac
done
cd "$(dirname "$0")/.."
list=scripts/portable/torch_versions.txt folder=$PWD/build/clean_wheel
say() { echo "check_wheel: $*"; }
give_up() { echo "check_wheel: $*" >&2; exit 1; }

mkdir -p "$folder"
if [[ -z $wheel ]]; then
  options=()
  for minor in "${minors[@]}"; do options+=(--torch "$minor"); done
  rm -f "$folder"/bertpretrain-*.whl
  scripts/package_wheel.sh --output "$folder" "${options[@]}"
  wheel=$(echo "$folder"/bertpretrain-*.whl)
fi
[[ -e $wheel ]] || give_up "$wheel does not exist"
if ((${#minors[@]} == 0)); then
  mapfile -t minors < <(python3 -m zipfile -l "$wheel" | sed -n 's|^bertpretrain/libexec/torch-\([0-9.]*\)/bertpretrain .*|\1|p' | sort -V)
fi
say "$(basename "$wheel"): $(($(stat -c %s "$wheel") / 1000000)) MB"

# bare_environment NAME [REQUIREMENT]: makes a virtual environment with nothing else, unless it exists. Prints its folder.
bare_environment() {
  local place=$folder/$1
  if [[ ! -e $place/made ]]; then
    rm -rf "$place"
    python3 -m venv "$place"
    if (($# > 1)); then "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$2" >&2; fi
    touch "$place/made"
  fi
  echo "$place"
}

# A folder with the commands that the launchers use, and no Python.
tools=$folder/tools
rm -rf "$tools"
mkdir "$tools"
for tool in sh readlink dirname grep cat getconf; do ln -s "$(command -v "$tool")" "$tools/"; done

install_in() { "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"; }
without_python() { env -i HOME="$HOME" PATH="$tools" "$@"; }

# refused WORDS COMMAND...: the command exits with 2 and prints WORDS.
refused() {
  local words=$1 code=0
  shift
  "$@" >"$folder/refusal.log" 2>&1 || code=$?
  if [[ $code != 2 ]] || ! grep -q "$words" "$folder/refusal.log"; then
    cat "$folder/refusal.log" >&2
    give_up "$*: exit code $code; expected: 2, with a message that contains '$words'"
  fi
}

# check_start COMMAND...: starts it ten times without Python, and checks the mean processor time against 0.3 s: the time on a quiet machine.
check_start() {
  local real user system TIMEFORMAT='%3R %3U %3S'
  without_python "$@" >/dev/null
  read -r real user system < <({ time for _ in 1 2 3 4 5 6 7 8 9 10; do without_python "$@" >/dev/null; done; } 2>&1)
  real=$((10#${real/./} / 10)) user=$(((10#${user/./} + 10#${system/./}) / 10))
  say "$(basename "$1") starts in $user ms of processor time, $real ms on this machine (load $(cut -d' ' -f1 /proc/loadavg))"
  ((user < 300)) || say "warning: expected less than 300 ms; other processes on the same cores raise it"
}

# check_symbols FOLDER: prints the newest versions that its files need, and checks that glibc 2.34 has them.
check_symbols() {
  local versions
  versions=$(find "$1" -type f -exec sh -c 'objdump -T "$0" 2>/dev/null || true' {} \; | grep -oE '(GLIBC|GLIBCXX)_[0-9.]+' | sort -uV)
  say "objdump: the newest are $(grep '^GLIBC_' <<<"$versions" | tail -1) and $(grep '^GLIBCXX_' <<<"$versions" | tail -1)"
  if grep -qE '^GLIBC_2\.(3[5-9]|[4-9][0-9])' <<<"$versions"; then give_up "a file needs more than GLIBC_2.34"; fi
}

# train ENVIRONMENT: replaces the shell that calls it, so that a signal reaches the program.
train() {
  exec "$1/bin/bertpretrain" train "$1"/lib/python3*/site-packages/bertpretrain/configs/small.json --output run --set data.training_shards=shards \
    --set "schedule.total_steps=$steps" --set "checkpoint.save_every_steps=$((steps / 4))"
}

# prove_in ENVIRONMENT: runs the programs in the current folder.
prove_in() {
  local trainer first
  "$1/bin/bertpretrain" --version | head -3
  "$1/bin/bertpretrain_data" extract "$1"/lib/python3*/site-packages/bertpretrain/data_tools/sample/encyclopaedia.xml --output text.txt
  "$1/bin/bertpretrain_data" vocabulary text.txt --size 2000 --output vocab.txt
  "$1/bin/bertpretrain_data" shard text.txt --vocabulary vocab.txt --output shards --sequence-length 128 --max-predictions 20 \
    --duplicate-factor 10 --shards 4 --held-out-shards 1 --held-out-fraction 0.1
  (train "$1" >killed.log 2>&1) &
  trainer=$!
  first=run/checkpoints/step_$(printf %08d $((steps / 4)))/COMPLETE.json
  while [[ ! -e $first ]] && kill -0 "$trainer" 2>/dev/null; do sleep 0.05; done
  kill -KILL "$trainer" || { cat killed.log; give_up "training ended before it was killed"; }
  wait "$trainer" || true
  (train "$1" >resumed.log 2>&1) || { cat resumed.log; give_up "the killed training could not be resumed"; }
  grep "going on from step" resumed.log || { cat resumed.log; give_up "training started from scratch instead of resuming"; }
  "$1/bin/bertpretrain" evaluate run --shards shards
  "$1/bin/bertpretrain" export run --format hf --output exported
  [[ -e exported/model.safetensors ]] || give_up "export wrote no model.safetensors"
}

place=$(bare_environment none)
install_in "$place"
refused "PyTorch was not found" without_python "$place/bin/bertpretrain" --version
refused "this program fits PyTorch" "$place/bin/bertpretrain" --version
check_start "$place/bin/bertpretrain_data" --version
check_symbols "$(echo "$place"/lib/python3*/site-packages/bertpretrain)"
other=$place/other/torch
mkdir -p "$other/lib"
touch "$other/lib/libtorch_cpu.so"
echo "__version__ = '1.13.1+cu117'" >"$other/version.py"
refused "found PyTorch 1.13.1+cu117" "$place/bin/bertpretrain" --torch "$place/other" --version
"$place/bin/python" -m pip uninstall --quiet --yes bertpretrain
left=$(find "$place" -path '*bertpretrain*' -not -type d)
[[ -z $left ]] || give_up "pip uninstall left $left"
say "without PyTorch: refused with one message; installed and uninstalled"

pinned=$(sed -n 's/^torch==\([0-9]*\.[0-9]*\).*/\1/p' scripts/requirements.txt)
if [[ " ${minors[*]} " == *" $pinned "* ]]; then  # comes first: the others are compared with it
  mapfile -t minors < <(echo "$pinned"; printf '%s\n' "${minors[@]}" | grep -vxF "$pinned" || true)
fi
rm -rf "$folder/comparison"
for minor in "${minors[@]}"; do
  release=$(sed -n "s/^$minor //p" "$list")
  [[ -n $release ]] || give_up "PyTorch $minor is not in $list"
  place=$(bare_environment "torch-$minor" "torch==$release")
  begin=$SECONDS
  install_in "$place"
  installed=$((SECONDS - begin))
  work=$(mktemp -d "$folder/run of $minor XXXXXX")
  (cd "$work" && prove_in "$place")
  check_start "$place/bin/bertpretrain" --version
  say "PyTorch $minor: installed in $installed s, all in $((SECONDS - begin)) s; last loss: $(grep -o '"loss": *[0-9.]*' "$work/run/metrics.jsonl" | tail -1)"
  scripts/portable/compare_training.sh "$folder/comparison" "$place/bin/bertpretrain" ||
    give_up "PyTorch $minor: the training differs from that of PyTorch ${minors[0]}"
  "$place/bin/python" -m pip uninstall --quiet --yes bertpretrain
  rm -rf "$work"
  if [[ $discard == yes ]]; then rm -rf "$place"; fi
done
say "passed: PyTorch ${minors[*]}"
