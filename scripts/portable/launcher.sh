#!/bin/sh
# Starts the program libexec/NAME, where NAME is this file's name, with the libraries of this machine's PyTorch:
#   NAME [--torch DIR] ARGUMENTS...
# PyTorch is taken from --torch DIR, else from BERTPRETRAIN_TORCH, else from the python3 on the PATH. DIR is the folder `torch` of an
# installation, a folder that contains it, or a virtual environment. Exits with 2 and a message if no PyTorch fits.
# scripts/package_portable.sh replaces the words between @ signs.
set -eu
version=@TORCH_VERSION@ cuda=@CUDA_VERSION@ glibc_minor=@GLIBC_MINOR@
self=$(readlink -f "$0")
name=${self##*/} root=${self%/bin/*}

give_up() {
  for line in "$@"; do echo "$name: $line" >&2; done
  exit 2
}

# Prints the folder with lib/libtorch_cpu.so at or below $1, or nothing.
torch_below() {
  for folder in "$1" "$1/torch" "$1"/lib/python3.*/site-packages/torch; do
    [ -e "$folder/lib/libtorch_cpu.so" ] || continue
    (cd "$folder" && pwd)
    return
  done
}

# Prints python3's folder `torch`, or nothing. Does not import torch, which would take seconds.
torch_of_python() {
  python3 -c '
import importlib.util, sys
sys.path[:] = filter(None, sys.path)  # ignores a folder named torch in the current folder
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else "")' 2>/dev/null || true
}

# Prints the value of $1 in torch/version.py without quotes. A LibTorch without Python has its version in build-version instead.
version_entry() {
  if [ -r "$torch/version.py" ]; then
    sed -n "s/^$1[^=]*= *//p" "$torch/version.py" | tr -d "\"'"
  elif [ "$1" = __version__ ] && [ -r "$torch/build-version" ]; then
    cat "$torch/build-version"
  fi
}

check_glibc() {
  found=$(getconf GNU_LIBC_VERSION 2>/dev/null || echo "no glibc")
  minor=${found#glibc 2.}
  case $minor in *[!0-9]* | "") minor=0 ;; esac
  [ "$minor" -ge "$glibc_minor" ] || give_up "this machine has $found; expected: glibc 2.$glibc_minor or newer" \
    "use the container image, or build the program on this machine (README.md of the source)"
}

# Takes `--torch DIR` out of the arguments: sets `named` to DIR and `where` to the text for messages.
named=${BERTPRETRAIN_TORCH:-}
where="BERTPRETRAIN_TORCH=$named"
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1 count=$((count - 1))
  shift
  case $argument in
    --torch)
      [ "$count" -gt 0 ] || give_up "--torch needs a folder"
      named=$1 count=$((count - 1))
      where="--torch $named"
      shift ;;
    --torch=*) named=${argument#--torch=} where=$argument ;;
    *) set -- "$@" "$argument" ;;
  esac
done

check_glibc
remedy="install PyTorch $version (pip install torch==$version), or name its folder with --torch DIR or BERTPRETRAIN_TORCH"
if [ -n "$named" ]; then
  torch=$(torch_below "$named")
  [ -n "$torch" ] || give_up "no PyTorch in $where: neither lib/libtorch_cpu.so nor torch/lib/libtorch_cpu.so is there" "$remedy"
elif command -v python3 >/dev/null; then
  where="python3, $(command -v python3)"
  torch=$(torch_of_python)
  [ -n "$torch" ] || give_up "PyTorch was not found: $(command -v python3) has no package torch" "$remedy"
  [ -e "$torch/lib/libtorch_cpu.so" ] || give_up "$torch (of $where) has no lib/libtorch_cpu.so" "$remedy"
else
  give_up "PyTorch was not found: there is no python3 on the PATH" "$remedy"
fi

found=$(version_entry __version__)
[ "${found%%+*}" = "$version" ] ||
  give_up "found PyTorch ${found:-of unknown version} in $torch (of $where); expected: $version, the version this program was built with" "$remedy"
LC_ALL=C grep -q __cxx11 "$torch/lib/libc10.so" ||
  give_up "PyTorch $found in $torch was built with the old C++ ABI (_GLIBCXX_USE_CXX11_ABI=0); expected: the C++11 ABI" \
    "PyTorch's own packages have it since 2.7; $remedy"

# Conda's torch/lib holds links, and the folder that they point to holds more of the libraries.
libraries=$torch/lib real=$(dirname "$(readlink -f "$torch/lib/libtorch_cpu.so")")
[ "$real" = "$(readlink -f "$torch/lib")" ] || libraries=$libraries:$real
# Only the fallback OpenMP, never lib/bertpretrain: Python would load that folder's OpenSSL instead of its own.
[ -e "$torch/lib/libgomp.so.1" ] || [ -e "$real/libgomp.so.1" ] || libraries=$libraries:$root/lib/fallback
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

if [ -e /dev/nvidiactl ]; then
  found_cuda=$(version_entry cuda)
  [ "${found_cuda%%.*}" = "${cuda%%.*}" ] ||
    echo "$name: warning: PyTorch $found in $torch has CUDA ${found_cuda:-None}; expected for GPUs: CUDA $cuda" >&2
fi

case $name in
  test_*)
    export BERTPRETRAIN_TEST_PROGRAMS="$root/libexec" BERTPRETRAIN_TEST_PROJECT="$root"
    export BERTPRETRAIN_TEST_PYTHON="${BERTPRETRAIN_TEST_PYTHON:-python3}" ;;
esac
exec "$root/libexec/$name" "$@"
