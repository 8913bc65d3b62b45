#!/usr/bin/env bash
# Runs one round of the production loop: new data, training from the current model, evaluation against it, promotion or refusal, exports
# and embeddings:
#   scripts/pipeline.sh CONFIG                 `bertpretrain config pipeline` explains the settings; configs/pipeline.json is an example
#   scripts/pipeline.sh CONFIG --until-done    starts it again after failures that may pass (run_until_done.sh)
#   scripts/pipeline.sh CONFIG --join          on the other hosts of a job: takes part in the training, and ends with it
# After an interruption, run it again: it continues with the stage that was interrupted. MODELS/next links to the generation in progress,
# MODELS/current to the newest that was accepted. Exit 6: the new generation was refused.
# BERTPRETRAIN: the program. TRAIN_LAUNCHER: a shell command that takes the arguments of `bertpretrain train`, such as
# scripts/launch/local.sh; TRAIN_STOP_SIGNAL (TERM) is what it takes for a request to save and end. ROUND: the name of this round, required for --join. A round that
# has promoted its generation and is started again under the same name does nothing.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac

say() { echo "pipeline: $*" >&2; }
refuse_request() { say "$1"; exit 2; }

scripts=$(cd "$(dirname "$0")" && pwd)
program=$scripts/../build/release/bertpretrain
[[ -x $program ]] || program=bertpretrain # in an image or a package
program=${BERTPRETRAIN:-$program}
data_program=${BERTPRETRAIN_DATA:-${program}_data}
[[ ${1-} != "" ]] || refuse_request "a config is missing; copy configs/pipeline.json"
config=$1 join='' until_done=''
for option in "${@:2}"; do
  case $option in
    --join) join=--join ;;
    --until-done) until_done=yes ;;
    *) refuse_request "$option: no such option; there are --until-done and --join" ;;
  esac
done

experiment='' models='' ranks='' data_training_shards='' data_command='' data_text_folder='' data_shard_options=() training_set=()
evaluation_held_out_shards='' evaluation_tolerance='' evaluation_after_refusal='' export_formats=() embedding_text='' embedding_vectors=''
[[ $config != -* ]] || config=./$config
check=()
if [[ -n $join ]]; then check=(--settings-only); fi # another host may lack the files that only the first one reads
settings=$("$program" config pipeline "$config" --shell "${check[@]}")
eval "$settings"
if [[ $models == -* ]]; then models=./$models; fi
if [[ $data_text_folder == -* ]]; then data_text_folder=./$data_text_folder; fi
next=$models/next current=$models/current
if [[ -n $until_done ]]; then exec "$scripts/run_until_done.sh" "$next" -- "$scripts/pipeline.sh" "$config" ${join:+"$join"}; fi

launcher=("$program" train) local_ranks=()
if ((ranks > 1)); then local_ranks=(--local-ranks "$ranks"); fi
if [[ -n ${TRAIN_LAUNCHER:-} ]]; then eval "launcher=($TRAIN_LAUNCHER)"; else launcher+=("${local_ranks[@]}"); fi
# Without the launchers' variables a program is a single process; with them it would wait for the job's other hosts.
alone=(env -u RANK -u WORLD_SIZE -u OMPI_COMM_WORLD_SIZE -u OMPI_COMM_WORLD_RANK -u SLURM_STEP_ID -u SLURM_NTASKS -u AWS_BATCH_JOB_NODE_INDEX
       -u AWS_BATCH_JOB_NUM_NODES -u PET_NNODES -u PET_NODE_RANK -u PET_NPROC_PER_NODE)

stop='' child='' child_group='' stop_signal=TERM
# shellcheck disable=SC2329  # the traps call it
ask_to_stop() {
  stop=$1
  if [[ -n $child ]]; then pass_signal; fi
}
pass_signal() { kill -s "$stop_signal" -- "${child_group:+-}$child" 2>/dev/null || kill -s "$stop_signal" "$child" 2>/dev/null || true; }
trap 'ask_to_stop 143' TERM
trap 'ask_to_stop 130' INT
trap 'ask_to_stop 129' HUP # has no effect where nohup ignores it
trap 'ask_to_stop 140' USR2
trap 'ask_to_stop 142' ALRM
trap 'ask_to_stop 152' XCPU
trap 'say "SIGUSR1 is not passed on: send it to a rank of the training"' USR1

# run COMMAND...: sets $code to its exit code. In the background, so that a signal is passed on at once; it then ends this script.
run() {
  if [[ -n $stop ]]; then exit "$stop"; fi
  "$@" </dev/null &
  child=$!
  if [[ -n $stop ]]; then pass_signal; fi # the signal came before $child was known
  code=0
  while kill -0 "$child" 2>/dev/null; do wait "$child" || true; done # a signal interrupts the wait
  wait "$child" || code=$?                                          # bash keeps how it ended
  child=''
  [[ -n $stop ]] || return 0
  case $code in 2 | 3 | 4 | 5 | 6 | 70) exit "$code" ;; *) exit "$stop" ;; esac
}
must() {
  run "$@"
  if ((code != 0)); then exit "$code"; fi
}

is_done() { grep -qxF "$1" "$folder/stages" 2>/dev/null; }
# stage NAME: runs the function NAME, unless an earlier attempt has completed it. A failed stage ends this script.
stage() {
  if is_done "$1"; then return; fi
  say "$models/$generation: $1"
  "$1"
  echo "$1" >>"$folder/stages"
}

# Lets the job's other hosts know which generation to train; "-": none.
announce() {
  [[ -n ${ROUND:-} ]] || return 0
  echo "$ROUND $1" >"$models/.announced.partial"
  mv "$models/.announced.partial" "$models/.announced"
}

# text_names LIST: prints the first names of a list of texts (see select_texts), and how many more it has.
text_names() {
  local number line names=''
  number=$(wc -l <"$1")
  while IFS= read -r line; do names+=${names:+, }${line#* * }; done < <(head -n 5 "$1")
  if ((number > 5)); then names+=" and $((number - 5)) more"; fi
  printf '%s\n' "${names//[[:cntrl:]]/?}"
}
# After a refusal: the generation's texts count as new for the next one.
advise_on_texts() {
  [[ -n $data_text_folder && -s $next/texts_new ]] || return 0
  say "it was trained on $(wc -l <"$next/texts_new") new files of $data_text_folder: $(text_names "$next/texts_new"). The next generation" \
    "learns them again: take a bad file out of $data_text_folder first"
}

refuse() {
  echo "$1" >"$folder/refused.partial"
  mv "$folder/refused.partial" "$folder/refused"
  say_refused
}
say_refused() {
  say "$models/$(readlink "$next") is refused: $(cat "$next/refused"). $current is unchanged. Look at it, then remove the link $next to" \
    "train another generation, or the file $next/refused to try this one again"
  advise_on_texts
  announce -
  exit 6
}

# Creates the generation, or finds the one that an interrupted round has left.
begin() {
  local newest
  if [[ -L $current && ! -e $current ]]; then refuse_request "$current leads to $(readlink "$current"), which is missing; set the link"; fi
  if [[ -n ${ROUND:-} && ! -L $next && $(cat "$current/round" 2>/dev/null) == "$ROUND" ]]; then
    say "the round $ROUND is done: $current is generation $(readlink "$current")"
    announce -
    exit 0
  fi
  if [[ -e $next/refused ]]; then
    [[ $evaluation_after_refusal == train_again ]] || say_refused
    say "setting the refused generation $(readlink "$next") aside: $models/refused"
    advise_on_texts
    mv -T "$next" "$models/refused"
  fi
  if [[ ! -L $next ]]; then
    newest=$(find "$models" -maxdepth 1 -name '[0-9][0-9][0-9][0-9]' -printf '%f\n' | sort | tail -1)
    ln -s "$(printf '%04d' $((10#${newest:-0} + 1)))" "$next"
  fi
  generation=$(readlink "$next") folder=$models/$(readlink "$next")
  mkdir -p "$folder"
  echo "${ROUND:-}" >"$folder/round"
  if [[ -e $current && ! -L $folder/parent ]]; then ln -srT "$(readlink -f "$current")" "$folder/parent"; fi
}

nothing_new() {
  say "$*; $current is unchanged"
  rm "$next"
  rm -r "${folder:?}"
  announce -
  exit 0
}

# Prints the files of text_folder: a sorted line "SIZE TIME NAME" for each, with \n for a line break of a name and \\ for a backslash.
list_texts() {
  local -x LC_ALL=C
  [[ -d $data_text_folder ]] || { say "$config: data.text_folder = $data_text_folder is no folder; a relative path starts at $PWD"; exit 3; }
  find -L "$data_text_folder" -mindepth 1 \( -name '.*' -o -name '*.partial' -o -name '*.incomplete' -o -name '*.crdownload' \) -prune -o -type f -printf '%s %T@ %P\0' |
    sed -z 's/\\/\\\\/g; s/\n/\\n/g' | tr '\0' '\n' | sort
}

# Prints what the shards depend on besides the texts: settings, and checksums of the vocabulary and of the records beside it.
shard_settings() {
  local option previous='' vocabulary=''
  local -x LC_ALL=C
  printf '%q\n' "$data_text_folder" "${data_shard_options[@]}"
  for option in "${data_shard_options[@]}"; do
    if [[ $previous == --vocabulary ]]; then vocabulary=$option; fi
    if [[ $option == --vocabulary=* ]]; then vocabulary=${option#*=}; fi
    previous=$option
  done
  if [[ $vocabulary == -* ]]; then vocabulary=./$vocabulary; fi
  if [[ -d $vocabulary ]]; then
    find -L "$vocabulary" -maxdepth 1 -type f -size -64M -print0 | sort -z # larger files are a model's weights
  else
    printf '%s\0' "$vocabulary" "$vocabulary.lineage.json" "$(dirname "$vocabulary")/tokenizer_config.json"
  fi | xargs -0 -r sha256sum -- 2>/dev/null || true
}

# Links the files of text_folder that no model before was trained on into texts/, and lists them in texts_new. A file that changed counts as
# new. Keeps finished shards if an earlier attempt made them from the same files with the same settings.
select_texts() {
  local number=0 line path name link # `learned` is for learn_texts too
  local -x LC_ALL=C # lengths are bytes
  learned=$folder/parent/texts_learned
  [[ -e $learned ]] || learned=/dev/null
  list_texts | comm -13 "$learned" - >"$folder/texts_new.partial"
  [[ -s $folder/texts_new.partial ]] || nothing_new "$data_text_folder has no new texts"
  shard_settings >"$folder/shards_made_with.partial"
  if ! cmp -s "$folder/texts_new.partial" "$folder/texts_new" || ! cmp -s "$folder/shards_made_with.partial" "$folder/shards_made_with"; then
    rm -rf "$folder/shards"
  fi
  mv "$folder/texts_new.partial" "$folder/texts_new"
  mv "$folder/shards_made_with.partial" "$folder/shards_made_with"
  rm -rf "$folder/texts"
  mkdir "$folder/texts"
  while IFS= read -r line; do
    printf -v path %b "${line#* * }"
    name=${path##*/}
    if ((${#name} > 200)); then name=${name: -200}; fi # with its number it must not be longer than file systems allow
    printf -v link '%s/texts/%06d_%s' "$folder" $((++number)) "$name"
    ln -srT "$data_text_folder/$path" "$link"
  done <"$folder/texts_new"
}

make_shards() {
  local links=("$folder"/texts/*) number=0 line
  run "${alone[@]}" "$data_program" shard "$folder/texts" --output "$folder/shards" --allow-empty "${data_shard_options[@]}"
  if ((code == 3)); then
    while IFS= read -r line; do
      line="${links[number++]##*/} is $data_text_folder/${line#* * }"
      say "${line//[[:cntrl:]]/?}"
    done < <(head -n 5 "$folder/texts_new")
    say "the number is that of a line in $folder/texts_new. Replace a bad file, or take it out of $data_text_folder, then run this again"
  fi
  if ((code != 0)); then exit "$code"; fi
  [[ -e $folder/shards/manifest.json ]] ||
    nothing_new "the new texts of $data_text_folder hold no document, or too few for shards: $(text_names "$folder/texts_new"). They are read" \
      "again with newer ones"
}

# Makes shards of the new texts. texts_learned gets their sizes and times only if these were the same before and after they were read.
learn_texts() {
  local attempt
  for attempt in 1 2 3; do
    select_texts
    [[ -e $folder/shards/manifest.json ]] || make_shards # `shard` writes it last
    list_texts | LC_ALL=C comm -13 - "$folder/texts_new" >"$folder/texts_changed"
    if [[ ! -s $folder/texts_changed ]]; then
      rm "$folder/texts_changed"
      LC_ALL=C sort -m "$learned" "$folder/texts_new" >"$folder/texts_learned.partial"
      mv "$folder/texts_learned.partial" "$folder/texts_learned"
      return
    fi
    say "files of $data_text_folder were changed or removed while they were read (attempt $attempt of 3): $(text_names "$folder/texts_changed")"
  done
  say "write each file under a name that begins with a dot, then rename it; then run this again"
  exit 3
}

# Undoes the data stage if the settings of its shards have changed since, unless the training has saved a checkpoint.
undo_changed_data() {
  local changed="data.text_folder, data.shard_options or the vocabulary's files have changed since $models/$generation made its shards"
  if [[ -z $data_text_folder || ! -e $folder/shards_made_with ]] || ! is_done data || is_done train; then return; fi
  if [[ $(shard_settings) == "$(cat "$folder/shards_made_with")" ]]; then return; fi
  if [[ -n $(find "$folder/run" -path '*/checkpoints/step_*/COMPLETE.json' ! -path '*.partial/*' -print -quit 2>/dev/null) ]]; then
    say "warning: $changed. Its training has saved checkpoints, so it keeps the shards; the next generation uses the new settings"
    return
  fi
  say "$changed: making them again"
  rm -f "$models/.announced" "$folder/stages"
}

# Prints a line "SHA256 FILE" for each text in a manifest's "corpus", and for the files that it was made from.
corpus_of() {
  LC_ALL=C grep -aoE '"(corpus|shards)": *\[|"(file|sha256)": *"([^"\\]|\\.)*"' "$1" | awk '
    /^"(corpus|shards)"/ { in_corpus = /^"corpus"/; next }
    { value = $0; sub(/^[^:]*: *"/, "", value); sub(/"$/, "", value) }
    /^"file"/ { file = value }
    /^"sha256"/ && in_corpus && value != "" { print value, file }'
}

# Warns of texts that are in the corpus of the held-out shards too.
warn_of_known_texts() {
  local held_out=$evaluation_held_out_shards/manifest.json made=$folder/shards/manifest.json file
  if [[ ! -f $held_out || ! -f $made ]] || is_done evaluate || cmp -s "$held_out" "$made"; then return; fi
  while IFS= read -r file; do
    if [[ $file == "$folder/texts/"* && -n $data_text_folder ]]; then
      file=${file#"$folder/texts/"}
      file=$data_text_folder/$(sed -n "$((10#${file%%_*})){s/^[^ ]* [^ ]* //;p;q}" "$folder/texts_new")
    fi
    say "warning: $file is also a text of evaluation.held_out_shards = $evaluation_held_out_shards. The generation learns that text, so its" \
      "held-out loss there is too good; take the file out of ${data_text_folder:-the new shards}, or make the held-out shards from other files"
  done < <(awk 'NR == FNR { held[$1] = 1; next } $1 in held && !seen[$0]++ { sub(/^[^ ]* /, ""); print }' \
    <(corpus_of "$held_out") <(corpus_of "$made"))
}

data() {
  if [[ -n $data_command ]]; then
    child_group=yes # the command may consist of several processes
    must setsid bash -c "$data_command" data "$folder/shards"
    child_group=''
    [[ -e $folder/shards ]] || nothing_new "data.command has made no shards"
    must "${alone[@]}" "$data_program" check "$folder/shards"
  elif [[ -n $data_text_folder ]]; then
    learn_texts
  fi
}

# On each host of the job.
train() {
  local options=() setting
  for setting in "${training_set[@]}"; do options+=(--set "$setting"); done
  options+=(--set "data.training_shards=${data_training_shards:-$folder/shards}" --set "data.held_out_shards=$evaluation_held_out_shards")
  if [[ -L $folder/parent ]]; then options+=(--set "initialization.init_from=$(readlink -f "$folder/parent")/run"); fi
  stop_signal=${TRAIN_STOP_SIGNAL:-TERM}
  run "${launcher[@]}" "$experiment" --output "$folder/run" "${options[@]}"
  stop_signal=TERM
  if ((code == 6)) && [[ -z $join ]]; then refuse "its training ended with exit code 6"; fi
  if ((code != 0)); then exit "$code"; fi
}

evaluate() {
  local baseline=()
  if [[ -e $current ]]; then baseline=(--baseline "$(readlink -f "$current")/run" --tolerance "$evaluation_tolerance"); fi
  run "${alone[@]}" "$program" evaluate "$folder/run" --shards "$evaluation_held_out_shards" --json "${baseline[@]}" \
    "${local_ranks[@]}" >"$folder/evaluation.partial"
  if ((code == 6)); then refuse "it is worse than $(readlink -f "$current"): $(cat "$folder/evaluation.partial")"; fi
  if ((code != 0)); then exit "$code"; fi
  mv "$folder/evaluation.partial" "$folder/evaluation.json"
}

export_model() {
  local format
  for format in "${export_formats[@]}"; do
    [[ -e $folder/$format ]] && continue
    rm -rf "$folder/$format.partial" # left by an export that was killed
    must "${alone[@]}" "$program" export "$folder/run" --format "$format" --output "$folder/$format"
  done
}

embed() {
  [[ -z $embedding_text || -e $folder/vectors.npy ]] ||
    must "${alone[@]}" "$program" embed "$folder/run" "$embedding_text" --vectors "$embedding_vectors" \
      --output "$folder/vectors.npy" "${local_ranks[@]}"
}

# Waits until the job's first host trains, and takes part.
join_training() {
  local announced=''
  [[ -n ${ROUND:-} ]] || refuse_request "--join needs ROUND, the same on all hosts of the job"
  say "waiting for the training of the round $ROUND"
  while announced=$(cat "$models/.announced" 2>/dev/null || true) && [[ ${announced% *} != "$ROUND" ]]; do
    run sleep "${JOIN_POLL_SECONDS:-2}"
  done
  generation=${announced##* } folder=$models/${announced##* }
  if [[ $generation != - ]] && ! is_done train; then train; fi
  exit 0
}

if [[ -n $join ]]; then join_training; fi
mkdir -p "$models"
exec 9>"$models/.lock" # the stages inherit it: while one of a killed pipeline still runs, no other pipeline starts
flock --timeout "${BERTPRETRAIN_LOCK_SECONDS:-0}" 9 ||
  { say "another pipeline, or a stage that it left running, is using $models; wait until it ends"; exit 2; }
begin
undo_changed_data
stage data
warn_of_known_texts
announce "$generation"
for name in train evaluate export_model embed; do stage "$name"; done
sync --file-system "$folder"
mv -T "$next" "$current" # renames the link atomically: readers see the whole old generation or the whole new one
sync "$models"
say "$current is now generation $generation: $(cat "$folder/evaluation.json")"
