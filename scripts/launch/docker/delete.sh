#!/usr/bin/env bash
# Deletes the registry's repository with all its images.
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
repository=${IMAGE%:*}
read -r -p "delete all images of $repository? Type its name: " answer
[[ $answer == "$repository" ]] || { echo "nothing was deleted"; exit 2; }
aws ecr delete-repository --region "$AWS_REGION" --repository-name "${repository#*/}" --force >/dev/null
