#!/usr/bin/env bash
# Installs what building and running need: Debian/Ubuntu packages, and a .venv with the pinned torch.
#   scripts/setup.sh             enough for the two programs
#   scripts/setup.sh --oracles   also what the tests compare with (transformers, h5py, ...)
#   scripts/setup.sh --fuzz      also clang with libFuzzer, for scripts/build.sh fuzz
# Running it again costs a second: it looks first and installs only what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build python3 python3-venv libhdf5-dev libspdlog-dev nlohmann-json3-dev libcli11-dev
          libexpat1-dev libbz2-dev zlib1g-dev libutf8proc-dev libisal-dev)
welcome=prometheus-cpp-dev # the HTTP endpoint; not every release has it, and all else is built without
oracles=no
for option in "$@"; do
  case "$option" in
    --oracles) oracles=yes; packages+=(catch2 iproute2 etcd-server gettext-base debootstrap dpkg-dev file) ;;
    --fuzz) packages+=(clang libclang-rt-dev) ;;
    *) echo "setup: unknown option $option; known: --oracles --fuzz" >&2; exit 2 ;;
  esac
done

say() { echo "setup: $*"; }
give_up() { echo "setup: $*" >&2; exit 1; }

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
else
  say "this is neither Debian nor Ubuntu: make sure of ${packages[*]} yourself"
fi
if ((${#missing[@]})); then
  say "installing packages: ${missing[*]}"
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || give_up "not root and no sudo; ask an administrator for: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq || give_up "'apt-get update' failed; is the package mirror reachable?"
  if apt-cache show "$welcome" >/dev/null 2>&1; then missing+=("$welcome"); fi
  # RUNLEVEL=1: etcd is for a test, which starts its own; nobody asked for a service on this machine
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    give_up "apt-get could not install: ${missing[*]}"
else
  say "packages are there"
fi

# Installs a requirements file into .venv unless the very same file was installed before.
install_requirements() {
  local file=$1 stamp
  stamp=".venv/$(basename "$(dirname "$file")").installed"
  if cmp -s "$file" "$stamp"; then
    say "$file is installed"
    return
  fi
  say "installing $file into .venv (torch alone is a download of 2.5 GB)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$file" ||
    give_up "pip could not install $file; it needs Python 3.10 or newer and a reachable package index"
  cp "$file" "$stamp"
}

if [[ ! -x .venv/bin/python ]]; then
  say "making .venv with $(python3 --version)"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || give_up "torch 2.11 needs Python 3.10 or newer"
  python3 -m venv .venv || give_up "python3 -m venv failed; is python3-venv installed?"
fi
install_requirements scripts/requirements.txt
if [[ $oracles == yes ]]; then install_requirements tests/requirements.txt; fi
say "done"
