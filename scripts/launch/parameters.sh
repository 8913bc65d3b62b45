# All parameters of the scripts and manifests of this folder. Other scripts source this file; do not run it. A variable that is already
# set keeps its value: `NODES=4 scripts/launch/aws_batch/submit.sh`. There are no secrets here: the AWS CLI has its own credentials.
# shellcheck shell=bash
set -a # exports all: fill.sh fills manifests from the environment

# The run
: "${RUN:=bert_large}"                                 # names the job and its folder
: "${CONFIG:=configs/bert_large_phase1.json}"          # as seen from inside the image or on the cluster
: "${TRAIN_OPTIONS:=}"                                 # more options of `bertpretrain train`, separated by spaces
: "${NODES:=2}"                                        # hosts
: "${MIN_NODES:=1}"                                    # smallest number of hosts for elastic launchers
: "${GPUS_PER_NODE:=8}"                                # 0: hosts without GPUs
: "${PROCESSES_PER_NODE:=8}"                           # ranks of a host: one per GPU
: "${EFA_PER_NODE:=4}"                                 # EFA adapters of a host; 0: sockets
: "${CPUS_PER_NODE:=90}"
: "${MEMORY_GIB_PER_NODE:=1000}"
: "${MAX_RESTARTS:=3}"                                 # how often torchrun restarts the ranks

# AWS, both Batch and EKS
: "${AWS_REGION:=us-east-1}"
: "${AWS_ZONE:=us-east-1a}"                            # the one zone of the nodes and the file system
: "${INSTANCE_TYPE:=p4d.24xlarge}"
: "${REGISTRY:=000000000000.dkr.ecr.us-east-1.amazonaws.com}" # your account's
: "${TAG:=latest}"
: "${IMAGE:=${REGISTRY}/bertpretrain:${TAG}}"
: "${BUCKET:=my-bucket}"                               # s3://BUCKET/DATA_PREFIX holds shards or a dump
: "${DATA_PREFIX:=wikipedia}"

# Batch: an existing network and existing roles
: "${BATCH_NAME:=bertpretrain}"
: "${SUBNET:=subnet-00000000}"                         # in AWS_ZONE
: "${SECURITY_GROUP:=sg-00000000}"                     # allows all traffic between its own members, as EFA requires
: "${INSTANCE_PROFILE:=arn:aws:iam::000000000000:instance-profile/ecsInstanceRole}"
: "${PLACEMENT_GROUP:=bertpretrain}"                   # created and deleted with the compute environment
: "${MAX_VCPUS:=1536}"
: "${ATTEMPTS:=5}"
: "${SHARED_FOLDER:=/fsx}"                             # on every host of the compute environment; mounted by its launch template
: "${LAUNCH_TEMPLATE:=lt-00000000}"                    # mounts SHARED_FOLDER and, with EFA_PER_NODE above 0, has the EFA interfaces

# EKS
: "${CLUSTER:=bertpretrain}"
: "${KUBERNETES_VERSION:=1.34}"
: "${SECOND_ZONE:=us-east-1b}"                         # EKS requires its control plane in two zones
: "${NAMESPACE:=bertpretrain}"
: "${STORAGE_GIB:=2400}"                               # FSx for Lustre: 1200, or a multiple of 2400
: "${STORAGE_THROUGHPUT:=250}"                         # MB/s per TiB
: "${STORAGE_SUBNET:=found-by-create_storage}"
: "${STORAGE_SECURITY_GROUP:=found-by-create_storage}"

# Derived from the above
: "${MEMORY_MIB_PER_NODE:=$((MEMORY_GIB_PER_NODE * 1024))}"
# Options of the preflight, besides its config
: "${PREFLIGHT_OPTIONS:=$( ((EFA_PER_NODE == 0)) || echo "--require-transport efa")}"
# The --set options among the job's options, for its preflight
# shellcheck disable=SC2034  # for preflight.yaml; always computed here, because scaling.sh changes TRAIN_OPTIONS
TRAIN_SETTINGS=$(grep -oE -- '--set[ =]+[^ ]+' <<<"$TRAIN_OPTIONS" | tr '\n' ' ' || true)
# The adapters' device files as Batch lists them: uverbs0, uverbs1, ...
: "${EFA_DEVICES:=$(seq -s ', ' -f '{"hostPath": "/dev/infiniband/uverbs%.0f"}' 0 $((EFA_PER_NODE - 1)))}"
set +a
