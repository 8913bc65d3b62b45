#!/usr/bin/env bash
# Deletes the registry's repository with all its images.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
repository=${IMAGE%:*}
read -r -p "delete all images of $repository? Type its name: " answer
[[ $answer == "$repository" ]] || { echo "nothing was deleted"; exit 2; }
aws ecr delete-repository --region "$AWS_REGION" --repository-name "${repository#*/}" --force >/dev/null
