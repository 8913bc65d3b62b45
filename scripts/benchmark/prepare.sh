# What the benchmarks' scripts share. They source this file with the targets that they need; do not run it. It installs and builds what is
# missing, and sets $root, the checkout or the portable archive, and $python. With BERTPRETRAIN_PROGRAMS, a folder with
# built programs, it builds nothing.
# shellcheck shell=bash
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
if [[ -z ${BERTPRETRAIN_PROGRAMS:-} && -x $root/scripts/setup.sh ]]; then # not in the portable archive
  "$root/scripts/setup.sh" --oracles >&2
  "$root/scripts/build.sh" release "$@" >&2
fi
python=$root/.venv/bin/python
[[ -x $python ]] || python=python3
