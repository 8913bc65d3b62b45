#!/usr/bin/env bash
# Builds an image and pushes it to your account's registry, which it creates if missing:  scripts/launch/docker/push.sh gpu|cpu
# To delete it: scripts/launch/docker/delete.sh
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
kind=${1:?push.sh gpu|cpu}
repository=${IMAGE%:*}
docker build --platform linux/amd64 -f "scripts/launch/docker/Dockerfile.$kind" --build-arg "COMMIT=$(git rev-parse --short=12 HEAD)" -t "$IMAGE" .
aws ecr describe-repositories --region "$AWS_REGION" --repository-names "${repository#*/}" >/dev/null 2>&1 ||
  aws ecr create-repository --region "$AWS_REGION" --repository-name "${repository#*/}" >/dev/null
aws ecr get-login-password --region "$AWS_REGION" | docker login --username AWS --password-stdin "${IMAGE%%/*}"
docker push "$IMAGE"
