#!/usr/bin/env bash
# What a change must pass:
#   scripts/test.sh        everything but the long tests, and what CI runs: formatting, shell scripts, all tests, clang-tidy, and the
#                          unit tests of the half without torch under sanitizers. It goes on after a failure, so that one run shows all.
#                          It ends with the list of skipped tests, and fails on one that is not expected on this kind of machine.
#   scripts/test.sh fast   while you work: formatting, shell scripts, and the unit tests
# Both end with the time of each phase. scripts/check.sh adds what takes longer.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
case "${1:-}" in
  "" | fast) ;;
  *) echo "test: unknown argument '$1'; usage: scripts/test.sh [fast]" >&2; exit 2 ;;
esac

status=0 table=""
# phase NAME COMMAND...: runs a phase; remembers its seconds and whether it failed.
phase() {
  local name=$1 begin=$SECONDS result=passed
  shift
  echo "test: $name"
  "$@" || { result=FAILED; status=1; }
  table+=$(printf '%6d s  %-6s  %s' $((SECONDS - begin)) "$result" "$name")$'\n'
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

needed_phase "build" scripts/build.sh release all benchmarks
export BERTPRETRAIN_SKIPS=$PWD/build/skips.txt
rm -f "$BERTPRETRAIN_SKIPS"
phase "all tests" run_ctest --label-exclude '^long$'
for sanitizer in asan tsan; do
  # Their skips are listed already.
  phase "unit tests of the half without torch, $sanitizer" env -u BERTPRETRAIN_SKIPS scripts/sanitize.sh "$sanitizer"
done
phase "clang-tidy" scripts/lint.sh --tidy
phase "skipped tests" scripts/list_skips.sh "$BERTPRETRAIN_SKIPS"
finish
