#!/bin/sh
# Tests the unpacked archive in the current folder: refusals, data, training that is killed and resumed, evaluation, tests, benchmarks.
# scripts/check_portable.sh runs it in a bare system, as an ordinary user:  prove.sh STEPS
#   /opt/pytorch        a folder with the package torch
#   /opt/pytorch_cpu    the same without its CUDA half
set -eu
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
steps=$1
save=$((steps / 4))
say() { echo "prove: $*"; }
give_up() { echo "prove: $*" >&2; exit 1; }

# refused WORDS COMMAND...: the command exits with 2 and prints WORDS.
refused() {
  words=$1 code=0
  shift
  "$@" >refusal.log 2>&1 || code=$?
  if [ "$code" -ne 2 ] || ! grep -q "$words" refusal.log; then
    cat refusal.log >&2
    give_up "$*: exit code $code; expected: 2, with a message that contains '$words'"
  fi
}

# Replaces the shell that calls it, so that a signal reaches the program.
train() {
  exec bin/bertpretrain train configs/small.json --output run --set data.training_shards=shards --set "schedule.total_steps=$steps" \
    --set "checkpoint.save_every_steps=$save"
}

say "$(python3 --version), $(getconf GNU_LIBC_VERSION)"
refused "PyTorch was not found" bin/bertpretrain --version
refused "no PyTorch in --torch /opt" bin/bertpretrain --torch /opt --version
export PYTHONPATH=/opt/pytorch
bin/bertpretrain --version

bin/bertpretrain_data extract data_tools/sample/encyclopaedia.xml --output text.txt
bin/bertpretrain_data vocabulary text.txt --size 2000 --output vocab.txt
bin/bertpretrain_data shard text.txt --vocabulary vocab.txt --output shards --sequence-length 128 --max-predictions 20 \
  --duplicate-factor 10 --shards 4 --held-out-shards 1 --held-out-fraction 0.1

(train >killed.log 2>&1) &
trainer=$!
first=run/checkpoints/step_$(printf %08d "$save")/COMPLETE.json
while [ ! -e "$first" ] && kill -0 "$trainer" 2>/dev/null; do sleep 0.1; done
kill -KILL "$trainer" || { cat killed.log; give_up "training ended before it was killed"; }
wait "$trainer" || true
(train >resumed.log 2>&1) || { cat resumed.log; give_up "the killed training could not be resumed"; }
grep "going on from step" resumed.log || { cat resumed.log; give_up "training started from scratch instead of resuming"; }
[ -e "run/checkpoints/step_$(printf %08d "$steps")/COMPLETE.json" ] || give_up "the last checkpoint is missing"
bin/bertpretrain evaluate run --shards shards

bin/test_gpu >tests.log 2>&1 || { cat tests.log; give_up "test_gpu failed"; }
tail -2 tests.log
bin/time_parts '{"rounds": 1, "layers": 2, "hidden": 256, "heads": 4, "intermediate": 1024}' >parts.json
say "time_parts printed $(wc -c <parts.json) bytes"
bin/bertpretrain --torch /opt/pytorch_cpu train configs/small.json --output run_cpu --set data.training_shards=shards \
  --set schedule.total_steps=10 >cpu.log 2>&1 || { cat cpu.log; give_up "a PyTorch without CUDA does not train"; }
say "trained with a PyTorch without CUDA"
./first_light.sh --device cpu --minutes 20 --output first_light
say "first_light.sh ran"
say "done"
