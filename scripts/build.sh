#!/usr/bin/env bash
# Builds into build/KIND:  scripts/build.sh release|debug|asan|tsan|fuzz [TARGET...]
#   release: a new folder compiles a dozen files at a time, which reads their headers once (BERTPRETRAIN_UNITY). A developer who changes
#   single files turns that off: BERTPRETRAIN_CMAKE_OPTIONS=-DBERTPRETRAIN_UNITY=OFF scripts/build.sh release
#   asan (with undefined behaviour) and tsan build the torch-free half only: torch itself is not instrumented. scripts/sanitize.sh also
#   runs its tests.
#   fuzz: the programs of tests/fuzz, by clang with libFuzzer and asan (scripts/setup.sh --fuzz installs it); run one with
#   `build/fuzz/NAME_fuzz FOLDER`, or all of them, two minutes each, with `ctest --test-dir build/fuzz`.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
kind=${1:-release}
shift || true
case "$kind" in
  release)
    # GPU=ON because quickstart.sh may have configured the folder without, all devices because test.sh compiles for one; UNITY only
    # for a new folder, which compiles everything.
    options=(-DCMAKE_BUILD_TYPE=Release -DBERTPRETRAIN_GPU=ON -DBERTPRETRAIN_CUDA_DEVICES=all)
    if [[ ! -e build/release/CMakeCache.txt ]]; then options+=(-DBERTPRETRAIN_UNITY=ON); fi ;;
  debug) options=(-DCMAKE_BUILD_TYPE=Debug) ;;
  asan) options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DBERTPRETRAIN_SANITIZER=address -DBERTPRETRAIN_TORCH=OFF) ;;
  tsan) options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DBERTPRETRAIN_SANITIZER=thread -DBERTPRETRAIN_TORCH=OFF) ;;
  fuzz)
    clang=$(compgen -c clang++ | grep -E '^clang\+\+(-[0-9]+)?$' | sort -V | tail -1) ||
      { echo "build: clang++ is missing; run scripts/setup.sh --fuzz" >&2; exit 1; }
    options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DBERTPRETRAIN_SANITIZER=fuzzer -DBERTPRETRAIN_TORCH=OFF
             -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_C_COMPILER="${clang/++/}") ;;
  *) echo "build: unknown kind '$kind'; known: release debug asan tsan fuzz" >&2; exit 2 ;;
esac
read -ra given <<<"${BERTPRETRAIN_CMAKE_OPTIONS:-}"
cmake -S . -B "build/$kind" -G Ninja "${options[@]}" "${given[@]}" | grep -v '^-- \(Detecting\|Check for\|The C\|Looking\|Performing\)'
targets=()
for target in "$@"; do targets+=(--target "$target"); done
cmake --build "build/$kind" "${targets[@]}"
