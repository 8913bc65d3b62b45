#!/usr/bin/env bash
# Tests the GPU image's runtime stage without Docker: makes a bare root that has only the packages that the stage installs and the files
# that it copies, and starts the programs there. It stands for Ubuntu's root with this system's release:  scripts/check_image.sh
# Needs root, debootstrap, a reachable mirror, and a build/release made with prometheus-cpp. Keeps the bare root for the next time.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
((EUID == 0)) || { echo "check_image: needs root, for debootstrap and chroot" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "check_image: debootstrap is missing; apt-get install debootstrap" >&2; exit 2; }
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
built=(build/release/bertpretrain build/release/bertpretrain_data build/release/libbertpretrain_nccl.so build/release/libbertpretrain_cuda.so)
packages=$(scripts/list_runtime_packages.sh "${built[@]}" | paste -sd,)
root=build/clean_system/image
if [[ $(cat "$root/packages" 2>/dev/null) != "$packages" ]]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include="$packages" "$release" "$root" "$mirror" >build/clean_system/image.log
  echo "$packages" >"$root/packages"
fi
cp "${built[@]}" "$root/usr/local/bin/"
mkdir -p "$root$PWD/.venv"
# The mount disappears when this shell ends.
# shellcheck disable=SC2016  # the inner shell's variables
unshare --mount bash -euc '
  mount --bind "$2/.venv" "$1$2/.venv"
  chroot --userspec=1000:1000 "$1" bertpretrain --version
  chroot --userspec=1000:1000 "$1" bertpretrain_data --version
' bash "$root" "$PWD"
echo "check_image: the programs start in a bare $release with $packages"
