#!/usr/bin/env bash
# Builds unit tests of the torch-free half with a sanitizer and runs them, two programs at a time:
#   scripts/sanitize.sh asan [FOLDER...]   address sanitizer and undefined behaviour; by default all folders of that half
#   scripts/sanitize.sh tsan [FOLDER...]   thread sanitizer; by default the folders whose tests use threads most
# A FOLDER is one of tests/ that needs no torch, for example data_tools.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
say() { echo "sanitize: $*"; }

kind=${1:-}
shift || true
case "$kind" in
  asan) folders=(core config text tokens shards archive telemetry reports) ;;
  tsan) folders=(core text shards telemetry) ;;  # tokens and archive: three minutes for two thread pools that core tests
  *) echo "sanitize: unknown sanitizer '$kind'; known: asan tsan" >&2; exit 2 ;;
esac
if (($# > 0)); then folders=("$@"); fi

scripts/build.sh "$kind" "${folders[@]/#/test_}"

run=()
if [[ $kind == asan ]]; then
  # The leak check stops the program with ptrace, which many containers forbid. It then fails at the end of every program.
  end=$("build/asan/test_${folders[0]}" "no test has this name" 2>&1 || true)
  if [[ $end == *"LeakSanitizer has encountered a fatal error"* ]]; then
    say "memory leaks are not checked: this container forbids ptrace, which the check needs"
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
  fi
elif setarch "$(uname -m)" -R true 2>/dev/null; then
  # The thread sanitizer expects fewer random bits in addresses (vm.mmap_rnd_bits) than newer kernels use.
  run=(setarch "$(uname -m)" -R)
else
  say "setarch -R is forbidden here; if tests end with 'unexpected memory mapping', run: sysctl vm.mmap_rnd_bits=28"
fi
pattern="^($(IFS='|'; echo "${folders[*]}"))(:.*)?\$"  # whole folders, and cases with an entry of their own
"${run[@]}" ctest --test-dir "build/$kind" --no-tests=error --output-on-failure --label-exclude '^long$' \
  --parallel $(($(nproc) + 1)) -R "$pattern"
