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

# The hosts. A known INSTANCE_TYPE of AWS sets what follows; on other hosts set all five.
: "${INSTANCE_TYPE:=p5.48xlarge}"
case $INSTANCE_TYPE in # GPUs, EFA adapters, vCPUs; CPUs and GiB that a container may use, because the platform needs some itself
  p4d.24xlarge | p4de.24xlarge) host=(8 4 96 90 1000) ;;
  p5.48xlarge | p5e.48xlarge) host=(8 32 192 184 1900) ;;
  p5en.48xlarge) host=(8 16 192 184 1900) ;;
  p6-b200.48xlarge) host=(8 8 192 184 1900) ;;
  *) host=() ;;
esac
if ((${#host[@]})); then
  : "${GPUS_PER_NODE:=${host[0]}}"                     # 0: hosts without GPUs
  : "${EFA_PER_NODE:=${host[1]}}"                      # EFA adapters of a host; 0: sockets
  : "${VCPUS_PER_NODE:=${host[2]}}"                    # as AWS counts them
  : "${CPUS_PER_NODE:=${host[3]}}"
  : "${MEMORY_GIB_PER_NODE:=${host[4]}}"
fi
for name in GPUS_PER_NODE EFA_PER_NODE VCPUS_PER_NODE CPUS_PER_NODE MEMORY_GIB_PER_NODE; do
  if [[ -z ${!name+set} ]]; then
    echo "parameters: INSTANCE_TYPE=$INSTANCE_TYPE is not a known one, and $name is not set; set it, or use p4d.24xlarge," \
      "p4de.24xlarge, p5.48xlarge, p5e.48xlarge, p5en.48xlarge or p6-b200.48xlarge" >&2
    exit 2
  fi
done
: "${PROCESSES_PER_NODE:=$((GPUS_PER_NODE > 0 ? GPUS_PER_NODE : 8))}" # ranks of a host: one per GPU
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
: "${REGISTRY:=000000000000.dkr.ecr.us-east-1.amazonaws.com}" # your account's
# The image of this checkout's commit. To go on with an older image after a pull, set TAG.
: "${TAG:=$(git -C "$(dirname "${BASH_SOURCE[0]}")" describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || echo latest)}"
: "${IMAGE:=${REGISTRY}/bertpretrain:${TAG}}"
: "${BUCKET:=my-bucket}"                               # s3://BUCKET/DATA_PREFIX holds shards or text
: "${DATA_PREFIX:=wikipedia}"
: "${INPUT:=s3://${BUCKET}/${DATA_PREFIX}/}"            # what prepare_data.yaml makes shards of, in any format that bertpretrain_data reads
: "${INPUT_OPTIONS:=}"                                 # options of `bertpretrain_data extract`, such as --text-field body
: "${VOCABULARY:=}"                                    # a file or address; empty: trained on the text
: "${CAPACITY_RESERVATION:=}"                          # cr-...: hosts come from this reservation
: "${CAPACITY_BLOCK:=no}"                              # yes: the reservation is a capacity block for ML

# Batch: an existing network and existing roles
: "${BATCH_NAME:=bertpretrain}"
: "${SUBNET:=subnet-00000000}"                         # in AWS_ZONE
: "${SECURITY_GROUP:=sg-00000000}"                     # allows all traffic between its own members, as EFA requires
: "${INSTANCE_PROFILE:=arn:aws:iam::000000000000:instance-profile/ecsInstanceRole}"
: "${PLACEMENT_GROUP:=bertpretrain}"                   # created and deleted with the compute environment
: "${MAX_HOSTS:=$((NODES > 16 ? NODES : 16))}"          # the largest number of hosts that may run at a time
: "${MAX_VCPUS:=$((MAX_HOSTS * VCPUS_PER_NODE))}"
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
: "${KUBERNETES_VERSION:=1.35}"                         # on EKS with standard support until 2027-03-27
: "${SECOND_ZONE:=us-east-1b}"                         # EKS requires its control plane in two zones
: "${HYPERPOD:=no}"                                    # yes: a cluster of SageMaker HyperPod, whose auto-resume replaces broken hosts
: "${NAMESPACE:=$([[ $HYPERPOD == yes ]] && echo hyperpod-)bertpretrain}" # auto-resume looks at kubeflow and hyperpod* only
: "${QUEUE:=}"                                         # Kueue's LocalQueue: a job starts when its quota has room for all of its pods
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
# The nodes of training jobs, as a label of theirs, and what the operator of PyTorchJobs does with a pod that has failed
if [[ $HYPERPOD == yes ]]; then
  : "${NODE_LABEL:=sagemaker.amazonaws.com/node-health-status: Schedulable}" "${RESTART_POLICY:=OnFailure}"
else
  : "${NODE_LABEL:=bertpretrain/role: worker}" "${RESTART_POLICY:=ExitCode}"
fi
# The network interfaces of a host for its launch template, as AWS advises: the first has the host's address, and each network card has an
# EFA adapter, which needs none.  interface CARD DEVICE TYPE
interface() {
  printf '{"NetworkCardIndex": %d, "DeviceIndex": %d, "InterfaceType": "%s", "Groups": ["%s"], "DeleteOnTermination": true}' \
    "$1" "$2" "$3" "$SECURITY_GROUP"
}
: "${EFA_INTERFACES:=$(interface 0 0 interface
for ((i = 0; i < EFA_PER_NODE; i++)); do printf ', %s' "$(interface "$i" "$((i == 0))" efa-only)"; done)}"
unset -f interface
# The adapters' device files as Batch lists them: uverbs0, uverbs1, ...
: "${EFA_DEVICES:=$(seq -s ', ' -f '{"hostPath": "/dev/infiniband/uverbs%.0f"}' 0 $((EFA_PER_NODE - 1)))}"
set +a
