#!/usr/bin/env bash
# Builds into build/KIND:  scripts/build.sh release|debug|asan|tsan [TARGET...]
#   asan (with undefined behaviour) and tsan hold the torch-free half: torch itself is not instrumented.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=${1:-release}
shift || true
case "$kind" in
  release) options=(-DCMAKE_BUILD_TYPE=Release) ;;
  debug) options=(-DCMAKE_BUILD_TYPE=Debug) ;;
  asan) options=(-DCMAKE_BUILD_TYPE=Debug -DBERTPRETRAIN_SANITIZER=address -DBERTPRETRAIN_TORCH=OFF) ;;
  tsan) options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DBERTPRETRAIN_SANITIZER=thread -DBERTPRETRAIN_TORCH=OFF) ;;
  *) echo "build: unknown kind '$kind'; known: release debug asan tsan" >&2; exit 2 ;;
esac
cmake -S . -B "build/$kind" -G Ninja "${options[@]}" ${BERTPRETRAIN_CMAKE_OPTIONS:-} | grep -v '^-- \(Detecting\|Check for\|The C\|Looking\|Performing\)'
targets=()
for target in "$@"; do targets+=(--target "$target"); done
cmake --build "build/$kind" "${targets[@]}"
