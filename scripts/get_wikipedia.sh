#!/usr/bin/env bash
# Downloads a Wikipedia dump of articles and verifies its checksum:
#   scripts/get_wikipedia.sh [--language en] [--date latest|YYYYMMDD] [--from URL] [--output FOLDER]
# --from: the dump site or a mirror of it (https://dumps.wikimedia.org). After an interruption, run the same command again: it continues
# where it stopped. `latest` means the newest dump whose checksums are published. Prints the file's path.
# Exit codes: 0 done, 2 the request, 3 data (missing, or different from its checksum), 5 the network.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
language=en date=latest from=https://dumps.wikimedia.org output=.

fail() { echo "get_wikipedia: $2" >&2; exit "$1"; }

while (($# > 0)); do
  case "$1" in
    --language | --date | --from | --output)
      (($# > 1)) || fail 2 "$1 needs a value"
      declare "${1#--}=$2"
      shift 2 ;;
    *) fail 2 "unknown argument '$1'; known: --language --date --from --output --help" ;;
  esac
done
[[ $language =~ ^[a-z][a-z_-]*$ ]] || fail 2 "--language $language: expected a language's code as in its Wikipedia's address, e.g. en"
[[ $date =~ ^(latest|[0-9]{8})$ ]] || fail 2 "--date $date: expected latest or YYYYMMDD"
command -v curl >/dev/null || fail 2 "curl is missing; apt-get install curl"
wiki=${language//-/_}wiki
from=${from%/}
if [[ $output == -* ]]; then output=./$output; fi
mkdir -p "$output" || fail 2 "--output $output: cannot make this folder"

# fetch URL FILE [OPTION...]: exits with 3 when the site does not have the file, 5 when the site cannot be reached.
fetch() {
  local url=$1 file=$2 code=0
  shift 2
  curl --fail --location --silent --show-error --retry 3 --connect-timeout 30 "$@" --output "$file" "$url" || code=$?
  case $code in
    0) ;;
    22) fail 3 "$url: the site does not have it; see $from/$wiki/ for the dates it has" ;;
    23) fail 3 "$file: cannot be written; free some space" ;;
    33) fail 5 "$url: the site cannot resume a download; delete $file and run this again" ;;
    *) fail 5 "$url: download failed (curl code $code); run the same command again to resume it" ;;
  esac
}

# The checksum file names each dump file with its date, also for `latest`.
sums=$output/$wiki-$date-sha1sums.txt
fetch "$from/$wiki/$date/$wiki-$date-sha1sums.txt" "$sums.partial"
read -r sum name < <(grep -E " $wiki-[0-9]{8}-pages-articles\.xml\.bz2\$" "$sums.partial") ||
  fail 3 "$sums.partial: names no pages-articles.xml.bz2; the dump may not be finished, try an older --date"
mv "$sums.partial" "$sums"
dated=${name#"$wiki"-}
file=$output/$name
verify() { [[ $(sha1sum <"$1") == "$sum  -" ]]; }

if [[ -e $file ]]; then
  verify "$file" || fail 3 "$file: does not match its SHA-1 checksum $sum; delete it and run this again"
  echo "$file"
  exit 0
fi
progress=(--no-progress-meter)
[[ -t 2 ]] && progress=(--progress-bar)
fetch "$from/$wiki/${dated%%-*}/$name" "$file.partial" --continue-at - "${progress[@]}"
if ! verify "$file.partial"; then
  rm -f "$file.partial"
  fail 3 "$name: the download from $from does not match its SHA-1 checksum $sum and was deleted; run this again, or use another mirror"
fi
mv "$file.partial" "$file"
echo "$file"
