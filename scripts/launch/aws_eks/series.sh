# What scaling.sh and efa_comparison.sh share: trains one experiment several times. They source this file; do not run it.
# shellcheck shell=bash
in_namespace() { kubectl --namespace "$NAMESPACE" "$@"; }

# train_and_wait RUN SETTINGS [OPTIONS of train.sh]: trains for STEPS steps in the folder RUN, with these settings before TRAIN_OPTIONS, and
# waits until the job has ended.
train_and_wait() {
  scripts/launch/aws_eks/stop.sh
  RUN=$1 TRAIN_OPTIONS="--set schedule.total_steps=${STEPS:-60} --set checkpoint.save_every_steps=0 $2 $TRAIN_OPTIONS" \
    scripts/launch/aws_eks/train.sh trainjob "${@:3}"
  until [[ $(in_namespace get trainjob bertpretrain --output 'jsonpath={.status.conditions[?(@.status=="True")].type}') \
    =~ (Complete|Failed) ]]; do sleep 10; done
}

# run_beside_runs POD COMMAND: runs a command, a JSON list, in a pod that sees the runs in /shared/runs, and prints its output.
run_beside_runs() {
  in_namespace run "$1" --rm --attach --restart=Never --image "$IMAGE" --overrides '{"spec": {
    "securityContext": {"runAsNonRoot": true, "runAsUser": 1000},
    "volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": "bertpretrain"}}],
    "containers": [{"name": "table", "image": "'"$IMAGE"'", "command": '"$2"',
                    "volumeMounts": [{"name": "shared", "mountPath": "/shared"}]}]}}'
}
