#!/usr/bin/env bash
# Builds one archive with the programs, the GPU modules, the GPU tests and the benchmarks, for machines that have PyTorch and no root:
#   scripts/package_portable.sh [--output FILE]      default: build/bertpretrain-VERSION-linux-x86_64.tar.gz
# It runs on x86-64 Linux with at least this machine's glibc and a PyTorch of the version in scripts/requirements.txt. Its
# lib/bertpretrain holds the libraries that are not part of glibc, GCC's runtime or PyTorch; bin/ holds launchers
# (scripts/portable/launcher.sh).
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
output=
while (($#)); do
  case "$1" in
    --output) output=$(realpath -m "${2:?--output needs a file}"); shift 2 ;;
    *) echo "package_portable: unknown option '$1'; known: --output FILE" >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")/.."
programs=(bertpretrain bertpretrain_data test_gpu time_parts)
limit_mib=50

say() { echo "package_portable: $*"; }
give_up() { echo "package_portable: $*" >&2; exit 1; }

scripts/setup.sh --oracles >&2  # the GPU tests need Catch2
scripts/build.sh release "${programs[@]}" >&2
cached() { sed -n "s/^$1:[^=]*=//p" build/release/CMakeCache.txt; }
torch=$(cached LIBTORCH_ROOT)
version_of() { sed -n "s/^$1[^=]*= *//p" "$torch/version.py" | tr -d "\"'"; }
torch_version=$(version_of __version__)
arrow_version=$(sed -n 's/^pyarrow==\([^;]*\).*/\1/p' scripts/requirements.txt)
glibc=$(getconf GNU_LIBC_VERSION)
name=bertpretrain-$(cached CMAKE_PROJECT_VERSION)-linux-x86_64
output=${output:-build/$name.tar.gz}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
cmake --install build/release --component portable --strip --prefix "$root" >/dev/null
mkdir -p "$root/bin" "$root/lib/bertpretrain" "$root/lib/fallback" "$root/licences"

# copy_libraries PROGRAM...: copies the libraries that the programs need, directly or not, except those of glibc, GCC and PyTorch.
copy_libraries() {
  local -A path_of=() seen=()
  local name _ path queue=("$@")
  while read -r name _ path _; do path_of[$name]=$path; done < <(ldd "$@" | grep ' => /')
  while ((${#queue[@]})); do
    local file=${queue[0]}
    queue=("${queue[@]:1}")
    for name in $(objdump -p "$file" | sed -n 's/^ *NEEDED *//p'); do
      [[ -n ${seen[$name]:-} ]] && continue
      seen[$name]=yes
      case "$name" in
        ld-linux-*|lib[cm].so.*|libdl.so.*|librt.so.*|libpthread.so.*|libresolv.so.*|libutil.so.*) continue ;;
        libgcc_s.so.*|libstdc++.so.*|libgomp.so.*) continue ;;
      esac
      path=${path_of[$name]:-}
      [[ -n $path ]] || give_up "$(basename "$file") needs $name, which is not found"
      [[ $path == "$(dirname "$torch")"/* ]] && continue
      cp -L "$path" "$root/lib/bertpretrain/$name"
      copy_licence "$path"
      queue+=("$path")
    done
  done
}

# copy_licence LIBRARY: copies the copyright file of its Debian package.
copy_licence() {
  local package
  package=$(dpkg-query -S "*/$(basename "$(readlink -f "$1")")" 2>/dev/null | sed -n '1s/:.*//p') || return 0
  if [[ -r /usr/share/doc/$package/copyright ]]; then cp -L "/usr/share/doc/$package/copyright" "$root/licences/$package"; fi
}

copy_libraries "${programs[@]/#/build/release/}"
cp -L "$torch/lib/libgomp.so.1" "$root/lib/fallback/"  # for a PyTorch whose OpenMP library has another name
cp scripts/cmake/libgomp_licence.txt "$root/licences/libgomp"
for module in libbertpretrain_cuda.so libbertpretrain_nccl.so; do
  if [[ -e $root/lib/bertpretrain/$module ]]; then
    ln -s "../lib/bertpretrain/$module" "$root/libexec/"  # where the tests look for it
  else
    say "warning: this machine could not build $module, so the archive is for CPUs only"
  fi
done

for program in "${programs[@]}"; do
  sed -e "s/@TORCH_VERSION@/${torch_version%%+*}/; s/@CUDA_VERSION@/$(version_of cuda)/; s/@GLIBC_MINOR@/${glibc#glibc 2.}/" \
    scripts/portable/launcher.sh >"$root/bin/$program"
  chmod +x "$root/bin/$program"
done
ln -sf ../libexec/bertpretrain_data "$root/bin/bertpretrain_data"  # needs no PyTorch
mkdir -p "$root/build" "$root/scripts" "$root/data_tools"
ln -s ../bin "$root/build/release"  # where the benchmarks look for programs
cp -RH configs "$root/"
cp -RH data_tools/sample "$root/data_tools/"
cp -RH scripts/benchmark "$root/scripts/"
mkdir -p "$root/scripts/launch"
cp scripts/launch/{local,node,parameters,run_folder,slurm}.sh "$root/scripts/launch/"
cp scripts/{pipeline,run_until_done}.sh "$root/scripts/"
find "$root" -name __pycache__ -prune -exec rm -rf {} +
ln -s scripts/benchmark/first_light.sh "$root/first_light.sh"
sed -e "s/@TORCH_VERSION@/${torch_version%%+*}/; s/@GLIBC@/${glibc#glibc }/; s/@ARROW_VERSION@/$arrow_version/; s/@COMMIT@/$(git rev-parse HEAD 2>/dev/null || echo unknown)/" \
  scripts/portable/README.txt >"$root/README.txt"

mkdir -p "$(dirname "$output")"
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$work" -cf - "$name" | gzip -9 >"$output.partial"
size=$(stat -c %s "$output.partial")
((size <= limit_mib << 20)) || give_up "the archive has $((size >> 20)) MiB; expected: at most $limit_mib MiB"
mv "$output.partial" "$output"
say "$output: $((size >> 20)) MiB, for PyTorch $torch_version and $glibc or newer"
