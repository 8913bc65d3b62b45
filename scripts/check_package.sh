#!/usr/bin/env bash
# Builds the .deb, installs it in a clean Debian (debootstrap, in build/clean_system), and trains the quickstart's model there from the
# sample encyclopaedia, as an ordinary user:  scripts/check_package.sh [STEPS]
# Needs root, debootstrap, and a reachable Debian mirror. Keeps the clean system, without the package, for the next time.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
steps=${1:-800}
release=bookworm mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
say() { echo "check_package: $*"; }
((EUID == 0)) || { echo "check_package: needs root, for debootstrap and chroot" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "check_package: debootstrap is missing; apt-get install debootstrap" >&2; exit 2; }

scripts/build.sh release bertpretrain bertpretrain_data
rm -f build/release/*.deb
(cd build/release && cpack -G DEB >cpack.log) || { cat build/release/cpack.log; exit 1; }
package=$(echo build/release/*.deb)
say "$(basename "$package"), $(du -h "$package" | cut -f1); depends on $(dpkg-deb --field "$package" Depends)"

base=build/clean_system/base root=build/clean_system/root
if [[ ! -e $base/made ]]; then
  rm -rf "$base"
  mkdir -p "$base"
  debootstrap --variant=minbase "$release" "$base" "$mirror" >build/clean_system/debootstrap.log
  touch "$base/made"
fi
rm -rf "$root"
cp -a "$base" "$root"
cp /etc/resolv.conf "$root/etc/"
cp "$package" "$root/tmp/package.deb"
cp data_tools/sample/encyclopaedia.xml "$root/tmp/"

# The mounts disappear when this shell ends.
# shellcheck disable=SC2016  # the inner shell's variables
unshare --mount bash -euc '
  mount -t proc proc "$1/proc"
  in_root() { chroot "$@"; }
  in_root "$1" sh -euc "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    /tmp/package.deb >/tmp/install.log 2>&1 || { cat /tmp/install.log; exit 1; }"
  in_root "$1" sh -euc "ldd /usr/bin/bertpretrain /usr/bin/bertpretrain_data >/tmp/libraries
    if grep \"not found\" /tmp/libraries; then exit 1; fi
    grep \"lib/bertpretrain/\" /tmp/libraries; bertpretrain --version; ls /usr/share/doc/bertpretrain"
  in_root --userspec=1000:1000 "$1" sh -euc "
    export HOME=/tmp/user; mkdir -p /tmp/user; cd /tmp/user
    bertpretrain_data extract /tmp/encyclopaedia.xml --output text.txt
    bertpretrain_data vocabulary text.txt --size 2000 --output vocab.txt
    bertpretrain_data shard text.txt --vocabulary vocab.txt --output shards --sequence-length 128 --max-predictions 20 \
      --duplicate-factor 10 --shards 4 --held-out-shards 1 --held-out-fraction 0.1
    bertpretrain train /usr/share/bertpretrain/configs/small.json --set data.training_shards=shards --output run \
      --set schedule.total_steps=$2 2>train.log | tail -8"
' bash "$root" "$steps"
[[ -e $root/tmp/user/run/checkpoints/step_$(printf %08d "$steps")/COMPLETE.json ]]
say "trained $steps steps in a clean $release; removed again: $(du -sh "$root" | cut -f1)"
rm -rf "$root"
