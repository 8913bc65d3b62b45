# What node.sh and slurm.sh share. They source this file; do not run it.
# shellcheck shell=bash

# run_folder CONFIG [OPTIONS of `bertpretrain train`]: sets $output to the folder of the run that these arguments describe.
run_folder() {
  local name=${1##*/}
  output=''
  while shift && (($#)); do
    case $1 in
      --output) output=${2-} ;;
      --output=*) output=${1#--output=} ;;
    esac
  done
  output=${output:-runs/${name%.*}} # the program's default
  if [[ $output == -* ]]; then output=./$output; fi
}
