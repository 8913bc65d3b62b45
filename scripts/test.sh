#!/usr/bin/env bash
# What a change must pass:
#   scripts/test.sh        everything but the long tests, and what CI runs: formatting, shell scripts, all tests, clang-tidy over the
#                          folders that were changed last, and the unit tests of the half without torch under sanitizers. CUDA kernels are
#                          compiled for one GPU. It goes on after a failure, so that one run shows all. It ends with the list of skipped
#                          tests, and fails on one that is not expected on this kind of machine.
#   scripts/test.sh all    also the benchmarks' programs, CUDA kernels for all GPUs, clang-tidy over all of lib/, and the sanitizers however
#                          long the rest has taken
#   scripts/test.sh fast   while you work: formatting, shell scripts, and the unit tests
# All end with the time of each phase. scripts/check.sh adds what takes longer.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
case "${1:-}" in
  "" | all | fast) ;;
  *) echo "test: unknown argument '$1'; usage: scripts/test.sh [all|fast]" >&2; exit 2 ;;
esac

status=0 table=""
# phase NAME COMMAND...: runs a phase; remembers its seconds and whether it failed.
phase() {
  local name=$1 begin=$SECONDS result=passed
  shift
  echo "test: $name"
  "$@" || { result=FAILED; status=1; }
  table+=$(printf '%6d s  %-7s  %s' $((SECONDS - begin)) "$result" "$name")$'\n'
}
# A phase that is listed as left out where the ones before have taken an hour: on such a machine a sanitizer's build and tests take eleven
# minutes, and CI ends the script after ninety.
what=${1:-}
phase_in_time() {
  if [[ $what == all ]] || ((SECONDS < 3600)); then phase "$@"; else table+=$(printf '%6s    %-7s  %s' - "NO TIME" "$1")$'\n'; fi
}
# A phase without which the others mean nothing.
needed_phase() { phase "$@"; ((status == 0)) || finish; }
finish() { printf 'test: phases\n%s%6d s  in all\n' "$table" "$SECONDS"; exit "$status"; }

# Test programs run side by side, one more than there are cores, because many of them wait.
# shellcheck disable=SC2329  # phase calls it
run_ctest() {
  ctest --test-dir build/release --no-tests=error --output-on-failure --parallel $(($(nproc) + 1)) "$@"
}

needed_phase "setup" scripts/setup.sh --oracles
phase "formatting, shell scripts" scripts/lint.sh
if [[ ${1:-} == fast ]]; then
  needed_phase "build of the unit tests" scripts/build.sh release unit_tests
  phase "unit tests" run_ctest --label-regex '^unit$'
  finish
fi

targets=(all) devices=90 tidy=--tidy-changed
if [[ $what == all ]]; then targets+=(benchmarks) devices=all tidy=--tidy; fi
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then devices=all; fi  # this GPU may be another
options="-DBERTPRETRAIN_CUDA_DEVICES=$devices ${BERTPRETRAIN_CMAKE_OPTIONS:-}"
needed_phase "build" env BERTPRETRAIN_CMAKE_OPTIONS="$options" scripts/build.sh release "${targets[@]}"
export BERTPRETRAIN_SKIPS=$PWD/build/skips.txt
rm -f "$BERTPRETRAIN_SKIPS"
phase "all tests" run_ctest --label-exclude '^long$'
phase "clang-tidy" scripts/lint.sh "$tidy"
# Their skips are listed already.
phase_in_time "unit tests of the half without torch, asan" env -u BERTPRETRAIN_SKIPS scripts/sanitize.sh asan
phase_in_time "unit tests of the half without torch, tsan" env -u BERTPRETRAIN_SKIPS scripts/sanitize.sh tsan
phase "skipped tests" scripts/list_skips.sh "$BERTPRETRAIN_SKIPS"
finish
