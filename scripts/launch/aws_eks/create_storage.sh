#!/usr/bin/env bash
# Creates the shared file system, in the workers' zone and the cluster's security group (which allows traffic between its members, as
# Lustre requires). It is billed by size and time, used or not. To delete it: scripts/launch/aws_eks/delete_storage.sh
set -euo pipefail
case ${1-} in -h | --help) sed -n '2,/^[^#]/s/^# //p' "$0"; exit ;; esac
cd "$(dirname "$0")/../../.."
source scripts/launch/parameters.sh
cluster() { aws eks describe-cluster --region "$AWS_REGION" --name "$CLUSTER" --query "cluster.resourcesVpcConfig.$1" --output text; }
network=$(cluster vpcId)
STORAGE_SUBNET=$(aws ec2 describe-subnets --region "$AWS_REGION" --query 'Subnets[0].SubnetId' --output text --filters \
  "Name=vpc-id,Values=$network" "Name=availability-zone,Values=$AWS_ZONE" "Name=tag:kubernetes.io/role/internal-elb,Values=1")
STORAGE_SECURITY_GROUP=$(cluster clusterSecurityGroupId)
[[ $STORAGE_SUBNET == subnet-* ]] || { echo "create_storage: no private subnet of $network in $AWS_ZONE" >&2; exit 2; }
export STORAGE_SUBNET STORAGE_SECURITY_GROUP

scripts/launch/fill.sh scripts/launch/aws_eks/storage.yaml | kubectl apply -f -
kubectl --namespace "$NAMESPACE" wait --for=condition=complete --timeout=30m job/bertpretrain-storage-owner
