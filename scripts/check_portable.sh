#!/usr/bin/env bash
# Builds the portable archive and tests it in bare systems with two versions of Python (debootstrap, in build/clean_system), with
# PyTorch from its wheel, as an ordinary user:  scripts/check_portable.sh [STEPS]
# Needs root, debootstrap, and a reachable Debian mirror and package index. Keeps the bare systems and PyTorch for the next time.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
steps=${1:-2400}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
folder=build/clean_system archive=build/clean_system/portable.tar.gz
say() { echo "check_portable: $*"; }
((EUID == 0)) || { echo "check_portable: needs root, for debootstrap and chroot" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "check_portable: debootstrap is missing; apt-get install debootstrap" >&2; exit 2; }

mkdir -p "$folder"
pinned=$(sed -n 's/^torch==//p' scripts/requirements.txt)  # check_wheel.sh has the other versions of PyTorch
scripts/package_portable.sh --output "$archive" --torch "${pinned%.*}"
torch=$(sed -n 's/^LIBTORCH_ROOT:[^=]*=//p' build/release/CMakeCache.txt)
packages=$(dirname "$torch")
torch_version=$(sed -n "s/^__version__ *= *'\([^+']*\).*/\1/p" "$torch/version.py")

# Copies the installed PyTorch without its CUDA half, to imitate the wheel for CPUs.
without_cuda=$folder/pytorch_cpu
rm -rf "$without_cuda"
mkdir -p "$without_cuda/torch/lib" "$without_cuda/nvidia/cu13/lib"
for library in libtorch_cpu.so libc10.so libgomp.so.1; do
  cp -lL "$torch/lib/$library" "$without_cuda/torch/lib/" 2>/dev/null || cp -L "$torch/lib/$library" "$without_cuda/torch/lib/"
done
cp "$packages"/nvidia/*/lib/lib{cudart,cupti}.so.* "$without_cuda/nvidia/cu13/lib/"  # the CUDA wheel's libtorch_cpu links against them
printf "__version__ = '%s+cpu'\ncuda: Optional[str] = None\n" "$torch_version" >"$without_cuda/torch/version.py"

# bare_system RELEASE: makes a system with only Python added, unless it exists.
bare_system() {
  local base=$folder/$1
  [[ -e $base/made ]] && return
  rm -rf "$base"
  mkdir -p "$base"
  debootstrap --variant=minbase --include=python3 "$1" "$base" "$mirror" >"$folder/$1.log"
  touch "$base/made"
}

# packages_for VERSION: prints a folder with PyTorch for this version of Python: .venv's if it fits, else one that it fills once.
packages_for() {
  local installed=$folder/python$1
  local install=(.venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary=:all: --python-version "$1"
                 --target "$installed")
  if [[ $packages == */python$1/site-packages ]]; then echo "$packages"; return; fi
  if [[ ! -e $installed/made ]]; then
    rm -rf "$installed"
    "${install[@]}" --no-deps "torch==$torch_version" >&2
    "${install[@]}" filelock typing_extensions sympy networkx jinja2 fsspec "setuptools<82" >&2  # what torch imports
    mkdir -p "$installed/nvidia"
    touch "$installed/made"
  fi
  echo "$installed"
}

prove_in() {
  local release=$1 root=$folder/$1 version packages_here
  bare_system "$release"
  version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  packages_here=$(packages_for "$version")
  rm -rf "$root/home/user"
  mkdir -p "$root/home/user/a folder" "$root/opt/pytorch" "$root/opt/pytorch_cpu"
  cp "$archive" "$root/home/user/archive.tar.gz"
  cp scripts/portable/prove.sh "$root/home/user/"
  chown -R 1000:1000 "$root/home/user"
  # The mounts disappear when this shell ends. NVIDIA's libraries come from .venv: they are the same for each version of Python.
  # shellcheck disable=SC2016  # the inner shell's variables
  unshare --mount bash -euc '
    root=$1 packages=$2 nvidia=$3 without_cuda=$4 steps=$5
    mount -t proc proc "$root/proc"
    mount --bind -o ro "$packages" "$root/opt/pytorch"
    mount --bind -o ro "$nvidia" "$root/opt/pytorch/nvidia"
    mount --bind -o ro "$without_cuda" "$root/opt/pytorch_cpu"
    chroot --userspec=1000:1000 "$root" env -i HOME=/home/user USER=user PATH=/usr/bin:/bin sh -euc "
      cd \"/home/user/a folder\"
      tar --strip-components=1 -xf ../archive.tar.gz
      sh ../prove.sh $steps"
  ' bash "$root" "$packages_here" "$packages/nvidia" "$without_cuda" "$steps"
  rm -rf "$root/home/user"
  say "$release: $steps steps with Python $version"
}

for release in bookworm trixie; do prove_in "$release"; done
say "passed: $(du -h "$archive" | cut -f1), PyTorch $torch_version"
