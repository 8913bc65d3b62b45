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
: "${JOB_RESTARTS:=100}"                               # how often Kubernetes restarts a job: lost hosts count, in months of training
: "${STOP_SECONDS:=600}"                               # time to save and end after SIGTERM; then the platform kills
: "${SUBMISSION:=$(date -u +%Y%m%d%H%M%S)}"            # differs per submission
: "${PIPELINE:=/shared/pipeline.json}"                  # settings of the production loop, on the shared file system
: "${PIPELINE_SCHEDULE:=0 3 * * *}"                    # when Kubernetes starts a round: minute, hour, day, month, weekday (UTC)
: "${NCCL_DEBUG:=WARN}"                                # INFO: NCCL logs each rank's interfaces, provider and topology

# AWS, both Batch and EKS
: "${AWS_REGION:=us-east-1}"
: "${AWS_ZONE:=us-east-1a}"                            # the one zone of the nodes and the file system
: "${INSTANCE_TYPE:=p4d.24xlarge}"
: "${REGISTRY:=000000000000.dkr.ecr.us-east-1.amazonaws.com}" # your account's
# The image of this checkout's commit. To go on with an older image after a pull, set TAG.
: "${TAG:=$(git -C "$(dirname "${BASH_SOURCE[0]}")" describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo latest)}"
: "${IMAGE:=${REGISTRY}/bertpretrain:${TAG}}"
: "${BUCKET:=my-bucket}"                               # s3://BUCKET/DATA_PREFIX holds shards or a dump
: "${DATA_PREFIX:=wikipedia}"
: "${CAPACITY_RESERVATION:=}"                          # cr-...: hosts come from this reservation
: "${CAPACITY_BLOCK:=no}"                              # yes: the reservation is a capacity block for ML

# Batch: an existing network and existing roles
: "${BATCH_NAME:=bertpretrain}"
: "${SUBNET:=subnet-00000000}"                         # in AWS_ZONE
: "${SECURITY_GROUP:=sg-00000000}"                     # allows all traffic between its own members, as EFA requires
: "${INSTANCE_PROFILE:=arn:aws:iam::000000000000:instance-profile/ecsInstanceRole}"
: "${PLACEMENT_GROUP:=bertpretrain}"                   # created and deleted with the compute environment
: "${MAX_VCPUS:=1536}"
: "${ATTEMPTS:=5}"
: "${SHARED_FOLDER:=/fsx}"                             # where each host mounts the file system
: "${FILE_SYSTEM:=fs-00000000000000000}"               # FSx for Lustre, in SUBNET
: "${FILE_SYSTEM_MOUNT:=found-by-create}"              # its mount name
: "${USER_DATA:=made-by-create}"
: "${SCHEDULING_POLICY:=made-by-create}"
: "${JOB_DEFINITION:=made-by-submit}"
: "${SHARE:=default}"                                  # the job's share of the queue: a team's or project's name

# EKS
: "${CLUSTER:=bertpretrain}"
: "${KUBERNETES_VERSION:=1.34}"
: "${SECOND_ZONE:=us-east-1b}"                         # EKS requires its control plane in two zones
: "${NAMESPACE:=bertpretrain}"
: "${STORAGE_GIB:=2400}"                               # FSx for Lustre: 1200, or a multiple of 2400
: "${STORAGE_THROUGHPUT:=250}"                         # MB/s per TiB
: "${S3_LINK:=runs}"                                   # s3://BUCKET/S3_LINK: linked with the file system's folder runs
: "${STORAGE_SUBNET:=found-by-create_storage}"
: "${STORAGE_SECURITY_GROUP:=found-by-create_storage}"

# Derived from the above
: "${MEMORY_MIB_PER_NODE:=$((MEMORY_GIB_PER_NODE * 1024))}"
# Options of the preflight, besides its config
: "${PREFLIGHT_OPTIONS:=$( ((EFA_PER_NODE == 0)) || echo "--require-transport efa")}"
# The --set options among the job's options, for its preflight
# shellcheck disable=SC2034  # for preflight.yaml; always computed here, because scaling.sh changes TRAIN_OPTIONS
TRAIN_SETTINGS=$(grep -oE -- '--set[ =]+[^ ]+' <<<"$TRAIN_OPTIONS" | tr '\n' ' ' || true)
# Conditional lines of manifests
: "${RESERVED:=$([[ -z $CAPACITY_RESERVATION ]] || echo 1)}"
: "${BLOCK:=$([[ $CAPACITY_BLOCK != yes ]] || echo 1)}"
# The EFA interfaces of a host for its launch template: one per network card, the first of them with the host's address
: "${EFA_INTERFACES:=$(for ((i = 0; i < (EFA_PER_NODE > 0 ? EFA_PER_NODE : 1); i++)); do
  printf '%s{"NetworkCardIndex": %d, "DeviceIndex": %d, "InterfaceType": "%s", "Groups": ["%s"], "DeleteOnTermination": true}' \
    "$( ((i == 0)) || echo ', ')" "$i" "$((i > 0))" "$( ((EFA_PER_NODE > 0)) && echo efa || echo interface)" "$SECURITY_GROUP"
done)}"
# The adapters' device files as Batch lists them: uverbs0, uverbs1, ...
: "${EFA_DEVICES:=$(seq -s ', ' -f '{"hostPath": "/dev/infiniband/uverbs%.0f"}' 0 $((EFA_PER_NODE - 1)))}"
set +a
