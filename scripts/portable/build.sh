#!/usr/bin/env bash
# Builds the programs for every version of PyTorch in torch_versions.txt, or for those minor versions that are named:
#   scripts/portable/build.sh [MINOR...]
# The version of scripts/requirements.txt is built in build/release, with the GPU tests and benchmarks; each other one in
# build/torch-MINOR, by the PyTorch that is installed in its folder `python` (5 to 8 GB each). A build that was interrupted goes on.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../.."
list=scripts/portable/torch_versions.txt
say() { echo "build: $*"; }
give_up() { echo "build: $*" >&2; exit 1; }

pinned=$(sed -n 's/^torch==//p' scripts/requirements.txt)
kernels=$PWD/build/release/libbertpretrain_cuda_kernels.so

cuda_of() { sed -n "s/^cuda[^=]*= *//p" "$1/version.py" | tr -d "\"'"; }

build_pinned() {
  scripts/setup.sh --oracles  # the GPU tests need Catch2
  scripts/build.sh release bertpretrain bertpretrain_data test_gpu time_parts
}

# build_other MINOR RELEASE: builds the program and its modules against another version of PyTorch.
build_other() {
  local folder=build/torch-$1 release=$2 torch options pinned_torch
  if [[ $(cat "$folder/python/installed" 2>/dev/null) != "$release" ]]; then
    say "installing PyTorch $release into $folder/python"
    rm -rf "$folder/python"
    python3 -m venv "$folder/python"
    "$folder/python/bin/python" -m pip install --quiet --disable-pip-version-check "torch==$release" ||
      give_up "pip could not install torch==$release (from $list)"
    echo "$release" >"$folder/python/installed"
  fi
  torch=$(echo "$PWD/$folder"/python/lib/python3*/site-packages/torch)
  pinned_torch=$(sed -n 's/^LIBTORCH_ROOT:[^=]*=//p' build/release/CMakeCache.txt)
  options=(-DCMAKE_BUILD_TYPE=Release -DBERTPRETRAIN_TESTS=OFF "-DLIBTORCH_ROOT=$torch" -DBERTPRETRAIN_GPU=OFF)
  [[ -e $folder/CMakeCache.txt ]] || options+=(-DBERTPRETRAIN_UNITY=ON)
  # Kernels work with every minor version of the CUDA that they were compiled for, so they are compiled once.
  if [[ -e $kernels && $(cuda_of "$torch" | cut -d. -f1) == "$(cuda_of "$pinned_torch" | cut -d. -f1)" ]]; then
    options+=(-DBERTPRETRAIN_GPU=ON "-DBERTPRETRAIN_CUDA_KERNELS=$kernels")
  else
    say "PyTorch $release has CUDA $(cuda_of "$torch"), for which there are no kernels: this version trains on GPUs through plain PyTorch operations"
  fi
  cmake -S . -B "$folder" -G Ninja "${options[@]}" >"$folder/configure.log" || { cat "$folder/configure.log" >&2; exit 1; }
  cmake --build "$folder" --target bertpretrain
}

known=$(sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' "$list" | tr '\n' ' ')
for minor in "$@"; do
  [[ " $known" == *" $minor "* ]] || give_up "PyTorch $minor is not in $list, which has: $known"
done
grep -q "^[0-9.]* $pinned\$" "$list" || give_up "$list lacks PyTorch $pinned, the version of scripts/requirements.txt"
build_pinned
while read -r minor release <&3; do
  [[ $minor == [0-9]* && $release != "$pinned" ]] || continue
  if (($#)) && [[ " $* " != *" $minor "* ]]; then continue; fi
  build_other "$minor" "$release"
done 3<"$list"  # what is called may read standard input
