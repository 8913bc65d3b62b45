# All that the scripts and manifests of this folder need to know, in one place. Sourced, never run. A variable that is set already
# wins: `NODES=4 scripts/launch/aws_batch/submit.sh`. Nothing here is secret: credentials come from the AWS CLI's own places.
# shellcheck shell=bash
set -a # exported: manifests are filled from the environment, see fill.sh

# The run
: "${RUN:=bert_large}"                                 # names the job and its folder
: "${CONFIG:=configs/bert_large_phase1.json}"          # as seen from inside the image or on the cluster
: "${TRAIN_OPTIONS:=}"                                 # more options of `bertpretrain train`, separated by spaces
: "${NODES:=2}"                                        # hosts
: "${MIN_NODES:=1}"                                    # elastic launchers go on with so few
: "${GPUS_PER_NODE:=8}"                                # 0: hosts without GPUs
: "${PROCESSES_PER_NODE:=8}"                           # ranks of a host: one per GPU
: "${EFA_PER_NODE:=4}"                                 # EFA adapters of a host; 0: sockets
: "${CPUS_PER_NODE:=90}"
: "${MEMORY_GIB_PER_NODE:=1000}"
: "${MAX_RESTARTS:=3}"                                 # of the ranks, by torchrun

# AWS, both Batch and EKS
: "${AWS_REGION:=us-east-1}"
: "${AWS_ZONE:=us-east-1a}"                            # one zone: the nodes, the file system, the traffic between them
: "${INSTANCE_TYPE:=p4d.24xlarge}"
: "${REGISTRY:=000000000000.dkr.ecr.us-east-1.amazonaws.com}" # your account's
: "${TAG:=latest}"
: "${IMAGE:=${REGISTRY}/bertpretrain:${TAG}}"
: "${BUCKET:=my-bucket}"                               # s3://BUCKET/DATA_PREFIX holds shards or a dump
: "${DATA_PREFIX:=wikipedia}"

# Batch: a network and roles that exist
: "${BATCH_NAME:=bertpretrain}"
: "${SUBNET:=subnet-00000000}"                         # in AWS_ZONE
: "${SECURITY_GROUP:=sg-00000000}"                     # lets all traffic through between its own members, as EFA asks
: "${INSTANCE_PROFILE:=arn:aws:iam::000000000000:instance-profile/ecsInstanceRole}"
: "${PLACEMENT_GROUP:=bertpretrain}"                   # created and deleted with the compute environment
: "${MAX_VCPUS:=1536}"
: "${ATTEMPTS:=5}"
: "${SHARED_FOLDER:=/fsx}"                             # on every host of the compute environment; mounted by its launch template
: "${LAUNCH_TEMPLATE:=lt-00000000}"                    # mounts SHARED_FOLDER and, with EFA_PER_NODE above 0, has the EFA interfaces

# EKS
: "${CLUSTER:=bertpretrain}"
: "${KUBERNETES_VERSION:=1.34}"
: "${SECOND_ZONE:=us-east-1b}"                         # EKS wants its control plane in two
: "${NAMESPACE:=bertpretrain}"
: "${STORAGE_GIB:=2400}"                               # FSx for Lustre: 1200, or a multiple of 2400
: "${STORAGE_THROUGHPUT:=250}"                         # MB/s per TiB
: "${STORAGE_SUBNET:=found-by-create_storage}"
: "${STORAGE_SECURITY_GROUP:=found-by-create_storage}"

# Made of the above
: "${MEMORY_MIB_PER_NODE:=$((MEMORY_GIB_PER_NODE * 1024))}"
# What the preflight is asked beyond its config
: "${PREFLIGHT_OPTIONS:=$( ((EFA_PER_NODE == 0)) || echo "--require-transport efa")}"
# The settings among the job's options: its preflight checks those
# shellcheck disable=SC2034  # preflight.yaml is filled with it; never kept from outside, for scaling.sh changes the options
TRAIN_SETTINGS=$(grep -oE -- '--set[ =]+[^ ]+' <<<"$TRAIN_OPTIONS" | tr '\n' ' ' || true)
# Batch's list of the adapters' device files: uverbs0, uverbs1, ...
: "${EFA_DEVICES:=$(seq -s ', ' -f '{"hostPath": "/dev/infiniband/uverbs%.0f"}' 0 $((EFA_PER_NODE - 1)))}"
set +a
