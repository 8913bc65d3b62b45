#!/bin/sh
# Starts the program NAME, where NAME is this file's name, with the libraries of this machine's PyTorch:
#   NAME [--torch DIR] ARGUMENTS...
# PyTorch is taken from --torch DIR, else from BERTPRETRAIN_TORCH, else from the folder that holds this package (pip's site-packages),
# else from a Python: BERTPRETRAIN_PYTHON, or the python3 on the PATH. DIR is the folder `torch` of an installation, a folder that
# contains it, or a virtual environment. Exits with 2 and a message if no PyTorch fits. libexec/torch-MINOR holds what was built for that
# minor version of PyTorch; bertpretrain_data needs none. scripts/portable/stage.sh replaces the words between @ signs.
set -eu
versions="@TORCH_VERSIONS@" release=@TORCH_RELEASE@ glibc_minor=@GLIBC_MINOR@
# Each command costs the start about 2 ms, so the usual case runs few of them.
case $0 in */*) self=$0 ;; *) self=./$0 ;; esac
if [ -L "$self" ]; then self=$(readlink -f "$self"); fi
name=${self##*/} root=$(cd -P "${self%/*}/.." && pwd)

# give_up LINE...: prints the lines, each after the program's name.
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

# Prints the folder `torch` of the Python $1, or nothing. Does not import torch, which would take seconds.
torch_of_python() {
  "$1" -c '
import importlib.util, sys
sys.path[:] = filter(None, sys.path)  # ignores a folder named torch in the current folder
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else "")' 2>/dev/null || true
}

# Sets `value` to that of $1 in torch/version.py, without quotes. A LibTorch without Python has its version in build-version instead.
read_version_entry() {
  value=
  if [ -r "$torch/version.py" ]; then
    while IFS= read -r line; do
      case $line in "$1"*=*) value=${line#*=} ;; esac
    done <"$torch/version.py"
    value=${value# } value=${value#[\"\']} value=${value%[\"\']}
  elif [ "$1" = __version__ ] && [ -r "$torch/build-version" ]; then
    IFS= read -r value <"$torch/build-version" || true
  fi
}

check_glibc() {
  found=$(getconf GNU_LIBC_VERSION 2>/dev/null || echo "no glibc")
  minor=${found#glibc 2.}
  case $minor in *[!0-9]* | "") minor=0 ;; esac
  [ "$minor" -ge "$glibc_minor" ] || give_up "this machine has $found; expected: glibc 2.$glibc_minor or newer" \
    "use the container image, or build the program on this machine (README.md of the source)"
}

# Sets `minor` to the minor version of the PyTorch $1 if it is a release: 2.11 of 2.11.0+cu130. Sets it to none for others, as 2.11.0a0.
find_minor() {
  number=${1%%+*} minor=none
  case ${number#*.*.} in "" | *[!0-9]*) ;; *) minor=${number%.*} ;; esac
}

# add_folder DIR: appends a folder to the search path of libraries.
add_folder() { export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$1"; }

# The system's libcrypto is taken where it exists: the system's libcurl, which reads object stores, works with that one only.
add_libcrypto() {
  for folder in /usr/lib64 /lib64 /usr/lib/x86_64-linux-gnu /lib/x86_64-linux-gnu /usr/lib /lib; do
    if [ -e "$folder/libcrypto.so.3" ]; then return; fi
  done
  add_folder "$root/lib/openssl"
}

check_glibc
if [ "$name" = bertpretrain_data ]; then
  add_libcrypto
  exec "$root/libexec/$name" "$@"
fi

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

fits="this program fits PyTorch $versions"
remedy="install one of them (pip install torch==$release), or name its folder with --torch DIR or BERTPRETRAIN_TORCH"
python=${BERTPRETRAIN_PYTHON:-python3}
if [ -n "$named" ]; then
  torch=$(torch_below "$named")
  [ -n "$torch" ] || give_up "no PyTorch in $where: neither lib/libtorch_cpu.so nor torch/lib/libtorch_cpu.so is there" "$fits" "$remedy"
elif [ -e "$root/../torch/lib/libtorch_cpu.so" ]; then
  torch=${root%/*}/torch where="the folder around $root"
elif python=$(command -v "$python"); then
  where="python3, $python"
  torch=$(torch_of_python "$python")
  [ -n "$torch" ] || give_up "PyTorch was not found: $python has no package torch" "$fits" "$remedy"
  [ -e "$torch/lib/libtorch_cpu.so" ] || give_up "$torch (of $where) has no lib/libtorch_cpu.so" "$fits" "$remedy"
else
  give_up "PyTorch was not found: there is no python3 on the PATH" "$fits" "$remedy"
fi

read_version_entry __version__
found=$value
find_minor "$found"
case ", $versions," in
  *", $minor,"*) ;;
  *) give_up "found PyTorch ${found:-of unknown version} in $torch (of $where)" "$fits" "$remedy" ;;
esac
programs=$root/libexec/torch-$minor
[ -x "$programs/$name" ] ||
  give_up "$name was not built for PyTorch $found of $where; it is there for: $(cd "$root/libexec" && echo torch-*/"$name")" "$remedy"
LC_ALL=C grep -q __cxx11 "$torch/lib/libc10.so" ||
  give_up "PyTorch $found in $torch was built with the old C++ ABI (_GLIBCXX_USE_CXX11_ABI=0); expected: the C++11 ABI" \
    "PyTorch's own packages have it since 2.7; $remedy"

# Conda's torch/lib holds links, and the folder that they point to holds more of the libraries.
libraries=$torch/lib real=$torch/lib
if [ -L "$torch/lib/libtorch_cpu.so" ] || [ -L "$torch/lib" ]; then
  real=$(dirname "$(readlink -f "$torch/lib/libtorch_cpu.so")")
  [ "$real" = "$(readlink -f "$torch/lib")" ] || libraries=$libraries:$real
fi
# Only the fallback OpenMP, never lib/bertpretrain: Python would load that folder's OpenSSL instead of its own.
[ -e "$torch/lib/libgomp.so.1" ] || [ -e "$real/libgomp.so.1" ] || libraries=$libraries:$root/lib/fallback
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
add_libcrypto

if [ -e /dev/nvidiactl ]; then
  read_version_entry cuda
  found_cuda=$value built_cuda=$(cat "$programs/cuda_version")
  [ "${found_cuda%%.*}" = "${built_cuda%%.*}" ] ||
    echo "$name: warning: PyTorch $found in $torch has CUDA ${found_cuda:-None}; expected for GPUs: CUDA $built_cuda" >&2
fi

case $name in
  test_*)
    export BERTPRETRAIN_TEST_PROGRAMS="$programs" BERTPRETRAIN_TEST_PROJECT="$root"
    export BERTPRETRAIN_TEST_PYTHON="${BERTPRETRAIN_TEST_PYTHON:-python3}" ;;
esac
exec "$programs/$name" "$@"
