#!/usr/bin/env bash
# Builds the programs for every version of PyTorch in torch_versions.txt, or for those minor versions that are named:
#   scripts/portable/build.sh [MINOR...]
# The version of scripts/requirements.txt is built in build/release, with the GPU tests and benchmarks; each other one in
# build/torch-MINOR, against the PyTorch in its folder `python`, which has only what linking and running on a CPU need (1.5 to 2.5 GB each).
# A build that was interrupted goes on.
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

# Prints those requirements of the PyTorch in the environment $1 that linking and running on a CPU need, a line each: the CUDA runtime,
# CUPTI and NCCL. For CUDA 12 also the packages with the headers that c10d's NCCL includes; those of CUDA 13 are in .venv.
linked_requirements() {
  "$1/bin/python" -c '
import importlib.metadata, re
for line in importlib.metadata.requires("torch"):
    found = re.match(r"([\w.-]+)[^=;]*==([\w.]+)", line)
    name, version = found.groups() if found else ("", "")
    if name == "cuda-toolkit":
        print(f"cuda-toolkit[cudart,cupti]=={version}")
    elif re.match(r"nvidia-(nccl-cu|(cuda-runtime|cuda-cupti|cublas|cusolver|cusparse)-cu12)", name):
        print(f"{name}=={version}")
    if name == "nvidia-cuda-runtime-cu12":
        series = version.rsplit(".", 1)[0]
        print(f"nvidia-cuda-nvcc-cu12=={series}.*", f"nvidia-cuda-cccl-cu12=={series}.*", sep="\n")'
}

# install_torch RELEASE ENVIRONMENT
install_torch() {
  local pip=("$2/bin/python" -m pip install --quiet --disable-pip-version-check) lines requirements
  [[ $(cat "$2/installed" 2>/dev/null) != "$1" ]] || return 0
  say "installing PyTorch $1 into $2"
  rm -rf "$2"
  python3 -m venv "$2"
  "${pip[@]}" --no-deps "torch==$1" || give_up "pip could not install torch==$1 (from $list)"
  lines=$(linked_requirements "$2")
  mapfile -t requirements <<<"$lines"
  # pip's output also lists what torch requires and linking does not.
  "${pip[@]}" "${requirements[@]}" >"$2/pip.log" 2>&1 ||
    { cat "$2/pip.log" >&2; give_up "pip could not install ${requirements[*]}, which torch==$1 requires"; }
  rm -rf "$2"/lib/python3*/site-packages/nvidia/{cublas,cusolver,cusparse}/lib  # 1.5 GB; their headers suffice
  echo "$1" >"$2/installed"
}

# build_other MINOR RELEASE: builds the program and its modules against another version of PyTorch.
build_other() {
  local folder=build/torch-$1 release=$2 torch options pinned_torch
  install_torch "$release" "$folder/python"
  torch=$(echo "$PWD/$folder"/python/lib/python3*/site-packages/torch)
  pinned_torch=$(sed -n 's/^LIBTORCH_ROOT:[^=]*=//p' build/release/CMakeCache.txt)
  options=(-DCMAKE_BUILD_TYPE=Release -DBERTPRETRAIN_TESTS=OFF "-DLIBTORCH_ROOT=$torch" -DBERTPRETRAIN_GPU=ON)
  [[ -e $folder/CMakeCache.txt ]] || options+=(-DBERTPRETRAIN_UNITY=ON)
  # Kernels work with every minor version of the CUDA that they were compiled for, so they are compiled once.
  if [[ -e $kernels && $(cuda_of "$torch" | cut -d. -f1) == "$(cuda_of "$pinned_torch" | cut -d. -f1)" ]]; then
    options+=("-DBERTPRETRAIN_CUDA_KERNELS=$kernels" "-DNVCC=$(sed -n 's/^NVCC:[^=]*=//p' build/release/CMakeCache.txt)")
  else
    options+=(-DBERTPRETRAIN_CUDA_KERNELS=none)
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
