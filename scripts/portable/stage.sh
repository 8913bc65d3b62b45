#!/usr/bin/env bash
# Puts the files that the wheel and the portable archive share into the empty folder ROOT:
#   scripts/portable/stage.sh ROOT [MINOR...]      MINOR: versions of PyTorch, as 2.11; default: all of torch_versions.txt
# scripts/portable/build.sh must have built those versions. ROOT then has
#   bin/                  launchers (launcher.sh)
#   libexec/              bertpretrain_data, and torch-MINOR/ with what links that PyTorch
#   lib/bertpretrain/     the libraries that are not part of glibc, GCC's runtime or PyTorch, and the modules without PyTorch
#   lib/openssl/, lib/fallback/     libcrypto and libgomp, for systems and PyTorch builds without them
#   configs/, share/, scripts/, data_tools/     experiments, man pages and completion, benchmarks, a sample text
#   SBOM.json, LICENCES   all that is bundled: versions, checksums, licences
# No file of it needs more than glibc 2.34 and the C++ runtime of GCC 11 (lower_versions.py).
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
(($#)) || { echo "stage: expected: stage.sh ROOT [MINOR...]; see --help" >&2; exit 2; }
root=$(realpath -m -- "$1")
shift
cd "$(dirname "$0")/../.."
list=scripts/portable/torch_versions.txt
say() { echo "stage: $*"; }
give_up() { echo "stage: $*" >&2; exit 1; }

if (($#)); then minors=("$@"); else mapfile -t minors < <(sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' "$list"); fi
pinned=$(sed -n 's/^torch==//p' scripts/requirements.txt)

cached() { sed -n "s/^$2:[^=]*=//p" "$1/CMakeCache.txt"; }

# folder_of MINOR: prints the folder of its build.
folder_of() {
  local release
  release=$(sed -n "s/^$1 //p" "$list")
  [[ -n $release ]] || give_up "PyTorch $1 is not in $list, which has: $(sed -n 's/^\([0-9][0-9.]*\) .*/\1/p' "$list" | tr '\n' ' ')"
  if [[ $release == "$pinned" ]]; then echo build/release; else echo "build/torch-$1"; fi
}

torch=$(cached build/release LIBTORCH_ROOT)
mkdir -p "$root/bin" "$root"/lib/{bertpretrain,fallback,openssl}
cmake --install build/release --component portable --strip --prefix "$root" >/dev/null
for minor in "${minors[@]}"; do
  folder=$(folder_of "$minor")
  [[ -e $folder/bertpretrain ]] || give_up "$folder/bertpretrain is missing; build it: scripts/portable/build.sh $minor"
  cmake --install "$folder" --component portable_torch --strip --prefix "$root" >/dev/null
  [[ -e $root/libexec/torch-$minor/bertpretrain ]] || give_up "$folder was not built for PyTorch $minor; remove that folder and build again"
  [[ -e $root/libexec/torch-$minor/libbertpretrain_cuda.so ]] || say "without GPU modules for PyTorch $minor"
done

# copy_libraries FILE...: copies the libraries that the files need, directly or not, except those of glibc, GCC and PyTorch. Records where
# each came from in $parts.
parts=$root/parts.txt
copy_libraries() {
  local -A path_of=() seen=()
  local name _ path queue=("$@")
  while read -r name _ path _; do path_of[$name]=$path; done < <(ldd "$@" | grep ' => /')
  while ((${#queue[@]})); do
    local file=${queue[0]} place
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
      if [[ $name == libcrypto.so.* ]]; then place=lib/openssl; else place=lib/bertpretrain; fi  # launcher.sh prefers the system's
      cp -L "$path" "$root/$place/$name"
      if [[ $name == libhdf5* ]] && objdump -p "$path" | grep -q 'NEEDED *libcurl'; then
        scripts/portable/drop_library.py "$root/lib/bertpretrain/$name" libcurl.so.4
      fi
      printf '%s\t%s\n' "$place/$name" "$(readlink -f "$path")" >>"$parts"
      queue+=("$root/$place/$name")
    done
  done
}

: >"$parts"
programs=(build/release/bertpretrain build/release/bertpretrain_data)
for program in test_gpu time_parts; do
  if [[ -e $root/libexec/torch-${pinned%.*}/$program ]]; then programs+=("build/release/$program"); fi
done
copy_libraries "${programs[@]}"

# The system's libexpat needs glibc 2.36 for one function. Its static library, with that function, makes one that does not.
expat=$root/lib/bertpretrain/libexpat.so.1
static=$(g++ -print-file-name=libexpat.a)
[[ -e $static ]] || give_up "libexpat.a is missing; install libexpat1-dev"
gcc -O2 -fPIC -Wall -Werror -shared -Wl,-soname,libexpat.so.1 -Wl,-Bsymbolic -o "$expat" scripts/portable/random_bytes.c \
  -Wl,--whole-archive "$static" -Wl,--no-whole-archive
strip "$expat"

cp -L "$torch/lib/libgomp.so.1" "$root/lib/fallback/"  # for a PyTorch whose OpenMP library has another name
find "$root" -type f -name '*.so*' -exec chmod 755 {} +
scripts/portable/lower_versions.py "$root"

versions=$(printf ', %s' "${minors[@]}")
versions=${versions#, }
glibc_minor=34  # NEWEST of lower_versions.py
for program in bertpretrain_data bertpretrain test_gpu time_parts; do
  [[ $program == bertpretrain* || -e $root/libexec/torch-${pinned%.*}/$program ]] || continue
  sed -e "s/@TORCH_VERSIONS@/$versions/; s/@TORCH_RELEASE@/$pinned/; s/@GLIBC_MINOR@/$glibc_minor/" scripts/portable/launcher.sh \
    >"$root/bin/$program"
  chmod 755 "$root/bin/$program"
done

cp -RH configs "$root/"
mkdir -p "$root/data_tools" "$root/scripts/launch" "$root/share/man/man1" "$root/share/bash-completion/completions"
cp -RH data_tools/sample "$root/data_tools/"
cp -RH scripts/benchmark "$root/scripts/"
cp scripts/launch/{local,node,parameters,run_folder,slurm}.sh "$root/scripts/launch/"
cp scripts/{pipeline,run_until_done}.sh "$root/scripts/"
for program in bertpretrain bertpretrain_data; do
  cp "build/release/manual/$program.1" "$root/share/man/man1/"
  cp "build/release/manual/$program.bash" "$root/share/bash-completion/completions/$program"
done
find "$root" -name __pycache__ -prune -exec rm -rf {} +
scripts/portable/bill_of_materials.py "$root" --torch "$torch" --version "$(cached build/release CMAKE_PROJECT_VERSION)"
rm "$parts"
say "$(du -sm "$root" | cut -f1) MiB for PyTorch ${minors[*]}"
