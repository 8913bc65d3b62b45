#!/usr/bin/env bash
# Installs what building and running need: Debian or Ubuntu packages, and PyTorch of the pinned version into .venv.
#   scripts/setup.sh             what the two programs need
#   scripts/setup.sh --oracles   also the programs and Python packages that tests use (Catch2, transformers, h5py, ...)
#   scripts/setup.sh --fuzz      also clang with libFuzzer, for scripts/build.sh fuzz
# It installs only what is missing, so running it again takes a second.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build python3 python3-venv libhdf5-dev libspdlog-dev nlohmann-json3-dev libcli11-dev
          libexpat1-dev libbz2-dev zlib1g-dev libutf8proc-dev libisal-dev libzstd-dev libsentencepiece-dev libssl-dev
          libcurl4-openssl-dev)
optional=prometheus-cpp-dev # for the HTTP endpoint of metrics; not every release of Debian or Ubuntu has it
oracles=no
for option in "$@"; do
  case "$option" in
    --oracles) oracles=yes; packages+=(catch2 iproute2 etcd-server gettext-base debootstrap dpkg-dev file prometheus) ;;
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
  say "this system has no dpkg, so packages cannot be checked; install these yourself: ${packages[*]}"
fi
if ((${#missing[@]})); then
  say "installing packages: ${missing[*]}"
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || give_up "this user is not root and sudo is missing; ask an administrator to run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq || give_up "'apt-get update' failed; is the package mirror reachable?"
  if apt-cache show "$optional" >/dev/null 2>&1; then missing+=("$optional"); fi
  # RUNLEVEL=1 keeps apt from starting etcd and Prometheus as services: the tests that need them start their own.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    give_up "apt-get could not install: ${missing[*]}"
else
  say "all packages are installed"
fi

# Installs a requirements file into .venv, unless a file with the same contents was installed before.
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
