#!/bin/sh
# pip installs this file into its folder of programs, as bertpretrain, bertpretrain_data and first_light. It starts the program of its own
# name in the folder of the package, which is in the same installation: a virtual environment, conda's prefix, /usr/local, ~/.local, or
# what `pip install --target` names.
set -eu
case $0 in */*) self=$0 ;; *) self=./$0 ;; esac
if [ -L "$self" ]; then self=$(readlink -f "$self"); fi
name=${self##*/} bin=${self%/*}
package=
for folder in "$bin"/../lib*/python3*/*-packages/bertpretrain "$bin"/../bertpretrain; do
  [ -x "$folder/bin/bertpretrain" ] || continue
  package=$folder
  if [ -e "$folder/../torch/lib/libtorch_cpu.so" ]; then break; fi  # prefers the Python that has PyTorch
done
if [ -z "$package" ]; then
  echo "$name: the package bertpretrain was not found beside $bin (lib/python3*/site-packages/bertpretrain)" >&2
  echo "$name: install the wheel again (pip install --force-reinstall)" >&2
  exit 2
fi
if [ -x "$bin/python3" ]; then export BERTPRETRAIN_PYTHON="${BERTPRETRAIN_PYTHON:-$bin/python3}"; fi
if [ "$name" = first_light ]; then
  if [ -x "$bin/python3" ]; then export PATH="$bin:$PATH"; fi
  export BERTPRETRAIN_PROGRAMS="${BERTPRETRAIN_PROGRAMS:-$package/bin}"
  exec "$package/scripts/benchmark/first_light.sh" "$@"
fi
exec "$package/bin/$name" "$@"
