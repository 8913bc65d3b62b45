// The scripts that create, delete, start and stop things in a cloud, with stand-ins of its command lines.
#include "core/error.h"
#include "launch/stand_ins.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Shell code that appends what a command reads from its standard input or its file:// argument to the calls.
const std::string keep_requests = R"(folder=$(dirname "$0")
[[ $command != *' -f -'* ]] || cat >>"$folder/calls"
[[ $command != *file://* ]] || { file=${command#*file://}; cat "${file%% *}" >>"$folder/calls"; }
)";

}  // namespace

TEST_CASE("create_cluster.sh starts no worker, and leaves EFA's device plugin to eksctl") {
    const StandIns clouds(keep_requests + "[[ $command != *'get namespace'* ]] || exit 1");
    const CommandResult result = clouds.run("aws_eks/create_cluster.sh");
    INFO(result.err << clouds.calls());
    CHECK(result.exit_code == 0);
    const std::string calls = clouds.calls();
    CHECK(has(calls, "eksctl create cluster"));
    CHECK(has(calls, "efaEnabled: true"));
    CHECK_FALSE(has(calls, "efa-k8s-device-plugin"));
    CHECK(has(calls.substr(calls.find("name: workers")), "desiredCapacity: 0"));
    CHECK(has(calls, "kubectl create namespace bertpretrain"));
    CHECK(calls.find("eksctl create cluster") < calls.find("kubeflow-trainer"));
    CHECK_FALSE(has(calls, "capacityReservation"));
}

TEST_CASE("a capacity reservation is in the cluster's and in Batch's request for hosts") {
    const StandIns clouds(keep_requests +
                          "[[ $command != *describe-file-systems* ]] || echo mount7\n"
                          "[[ $command != *describe-compute-environments* ]] || echo VALID");
    const std::string reserved = "CAPACITY_RESERVATION=cr-7 CAPACITY_BLOCK=yes ";
    CHECK(run_command(reserved + clouds.command("aws_eks/create_cluster.sh")).exit_code == 0);
    CHECK(has(clouds.calls(), "capacityReservationID: \"cr-7\""));
    CHECK(has(clouds.calls(), "marketType: capacity-block"));
    CHECK(run_command(reserved + clouds.command("aws_batch/create.sh")).exit_code == 0);
    CHECK(has(clouds.calls(), "\"CapacityReservationId\": \"cr-7\""));
}

TEST_CASE("workers.sh waits until the hosts are ready, and fails when they do not come") {
    const StandIns clouds("[[ $command != *'get nodes'* ]] || printf 'True\\nTrue\\n'");
    CHECK(clouds.run("aws_eks/workers.sh 2").exit_code == 0);
    CHECK(has(clouds.calls(), "eksctl scale nodegroup --region us-east-1 --cluster bertpretrain --name workers --nodes 2"));
    const CommandResult missing = run_command("WORKER_SECONDS=0 " + clouds.command("aws_eks/workers.sh 3"));
    CHECK(missing.exit_code == 5);
    CHECK(has(missing.err, "2 of 3 hosts"));
    CHECK(clouds.run("aws_eks/workers.sh many").exit_code == 2);
}

TEST_CASE(
    "aws_batch/create.sh makes a launch template that mounts the file system before the agent starts, and a fair-share queue") {
    const StandIns clouds(keep_requests + R"(case $command in
        *describe-file-systems*) echo mount7 ;; *describe-compute-environments*) echo VALID ;;
        *describe-launch-templates*|*describe-placement-groups*) exit 254 ;; *create-scheduling-policy*) echo arn:policy7 ;; esac)");
    const CommandResult result = run_command("FILE_SYSTEM=fs-7 SECURITY_GROUP=sg-7 " + clouds.command("aws_batch/create.sh"));
    INFO(result.err << clouds.calls());
    CHECK(result.exit_code == 0);
    const std::string calls = clouds.calls();
    CHECK(has(calls, "{\"NetworkCardIndex\": 0, \"DeviceIndex\": 0, \"InterfaceType\": \"interface\", \"Groups\": [\"sg-7\"]"));
    for (int card = 0; card < 32; ++card)  // of p5.48xlarge
        CHECK(has(calls, concat("{\"NetworkCardIndex\": ", card, ", \"DeviceIndex\": ", card > 0 ? 0 : 1,
                                ", \"InterfaceType\": \"efa-only\", \"Groups\": [\"sg-7\"]")));
    CHECK(has(calls, "\"schedulingPolicyArn\": \"arn:policy7\""));
    CHECK(calls.find("create-launch-template ") < calls.find("create-compute-environment"));
    const std::size_t from = calls.find("\"UserData\": \"") + 13;
    const std::string data = run_command(concat("echo ", calls.substr(from, calls.find('"', from) - from), " | base64 -d")).out;
    CHECK(has(data, "text/cloud-boothook"));
    CHECK(has(data, "fs-7.fsx.us-east-1.amazonaws.com@tcp:/mount7 /fsx"));
    CHECK(has(data, "ECS_CONTAINER_STOP_TIMEOUT=600s"));
    const std::string script = data.substr(data.find("#!/bin/bash"), data.rfind("--==") - data.find("#!/bin/bash"));
    const TemporaryFolder folder;
    write_text(folder / "script", script);
    CHECK(run_command("bash -n " + (folder / "script").string()).exit_code == 0);
}

TEST_CASE("aws_batch/create.sh refuses a file system that does not exist, before it creates anything") {
    const StandIns clouds("[[ $command != *describe-file-systems* ]] || echo None");
    const CommandResult result = clouds.run("aws_batch/create.sh");
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, "FILE_SYSTEM=fs-"));
    CHECK_FALSE(has(clouds.calls(), " create-"));
}

TEST_CASE("aws_batch/delete.sh deletes all that create.sh creates") {
    const StandIns clouds(R"(case $command in *'*[0][0].status'*) echo VALID ;; *'length('*) echo 0 ;;
        *list-scheduling-policies*) echo arn:policy7 ;; esac)");
    CHECK(clouds.run("aws_batch/delete.sh", "bertpretrain").exit_code == 0);
    for (const std::string call : {"delete-job-queue", "delete-scheduling-policy --region us-east-1 --arn arn:policy7",
                                   "delete-compute-environment", "delete-launch-template", "delete-placement-group"})
        CHECK(has(clouds.calls(), call));
}

TEST_CASE("delete_storage.sh ends when the file system is gone, not when Kubernetes has forgotten it") {
    const std::string volume =
        "case $command in *volumeName*) echo pvc-7 ;; *volumeHandle*) echo fs-7 ;; *describe-file-systems*) ";
    const StandIns gone(volume + R"(count=$(grep -c describe-file-systems "$(dirname "$0")/calls")
        if ((count > 1)); then echo 'An error occurred (FileSystemNotFound)' >&2; exit 254; fi; echo DELETING ;; esac)");
    const CommandResult result = gone.run("aws_eks/delete_storage.sh", "bertpretrain");
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(has(gone.calls(), "describe-file-systems --region us-east-1 --file-system-ids fs-7"));
    const StandIns stuck(volume + "echo FAILED ;; esac");
    CHECK(stuck.run("aws_eks/delete_storage.sh", "bertpretrain").exit_code == 5);
    const StandIns denied(volume + "echo AccessDenied >&2; exit 254 ;; esac");
    CHECK(denied.run("aws_eks/delete_storage.sh", "bertpretrain").exit_code == 5);
}

TEST_CASE("the link with S3 imports and exports, and is deleted without the files") {
    const StandIns clouds(R"(case $command in *volumeName*) echo pvc-7 ;; *volumeHandle*) echo fs-7 ;;
        *create-data-repository-association*) echo dra-7 ;; *Lifecycle*) echo AVAILABLE ;;
        *describe-data-repository-associations*) [[ $(grep -c delete-data-rep "$(dirname "$0")/calls") != 0 ]] || echo dra-7 ;; esac)");
    CHECK(run_command("BUCKET=mine " + clouds.command("aws_eks/create_s3_link.sh")).exit_code == 0);
    CHECK(has(clouds.calls(), "--file-system-path /runs --data-repository-path s3://mine/runs"));
    CHECK(has(clouds.calls(), "AutoImportPolicy={Events=[NEW,CHANGED,DELETED]},AutoExportPolicy={Events=[NEW,CHANGED,DELETED]}"));
    CHECK(run_command(concat("echo mine | BUCKET=mine ", clouds.command("aws_eks/delete_s3_link.sh"))).exit_code == 0);
    CHECK(has(clouds.calls(), "--association-id dra-7 --no-delete-data-in-file-system"));
}

TEST_CASE("stop.sh lets the ranks save, and leaves the pods with their logs") {
    const StandIns clouds(R"(case $command in *'get trainjobs'*) echo trainjob.trainer.kubeflow.org/bertpretrain ;;
        *'get jobs.batch'*) printf 'job.batch/bertpretrain-data\njob.batch/bertpretrain-node-0\n' ;;
        *phase=Running*) [[ $(grep -c 'kill -TERM' "$(dirname "$0")/calls") != 0 ]] || echo pod/bertpretrain-node-0-0-x ;; esac)");
    const CommandResult result = clouds.run("aws_eks/stop.sh");
    INFO(result.err << clouds.calls());
    CHECK(result.exit_code == 0);
    const std::string calls = clouds.calls();
    CHECK(has(calls, "delete trainjob.trainer.kubeflow.org/bertpretrain --cascade=orphan"));
    CHECK(has(calls, "delete job.batch/bertpretrain-node-0 --cascade=orphan"));
    CHECK_FALSE(has(calls, "delete job.batch/bertpretrain-data"));
    CHECK(calls.find("--cascade=orphan") < calls.find("exec pod/bertpretrain-node-0-0-x -- bash -c kill -TERM 1"));
    CHECK_FALSE(has(calls, "phase=Running --ignore"));
    CHECK_FALSE(has(calls, "delete pods --selector app=bertpretrain-run --field-selector status.phase=Running"));
}

TEST_CASE("the comparison of EFA adapters prints transport and bandwidths of the preflight, the rate and the time of an epoch") {
    const TemporaryFolder folder;
    for (const int adapters : {0, 4}) {
        const auto run = folder / concat("x_efa_", adapters);
        std::filesystem::create_directories(run);
        std::string lines = "{\"step\":1,\"sequences_per_second\":1}\n{\"step\":1,\"held_out_mlm_loss\":9}\n";
        for (const int rate : {2, 6, 3})  // the mean rate of the last two steps is 4
            lines += concat("{\"step\":2,\"sequences_per_second\":", adapters == 0 ? rate : 10 * rate, "}\n");
        write_text(run / "metrics.jsonl", lines);
        write_text(run / "events.jsonl", "{\"event\":\"start\",\"samples_per_epoch\":14400}\n");
    }
    // What a preflight prints
    write_text(
        folder / "preflight",
        "# all_reduce\n"
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
        "        1024           256     float     sum      -1   100.00   30.00   41.00      0    90.00   30.00   38.50      0\n"
        "        2048           512     float     sum      -1   100.00   30.00   55.00      0    90.00   30.00   60.25      0\n"
        "# Avg bus bandwidth    : 48.69\n#\n# broadcast\n"
        "        2048           512     float     sum      -1   100.00   30.00   99.00      0    90.00   30.00   99.25      0\n"
        "# Avg bus bandwidth    : 99.1\n"
        "ok      transport, ranks 0-15: efa (rdmap0s6 efa, rdmap1s6 efa)\n");
    // Runs the pod's command here, on the runs' folder
    write_text(folder / "pod.py",
               "import json, subprocess, sys\n"
               "command = json.loads(sys.argv[1])['spec']['containers'][0]['command']\n"
               "parts = [part.replace('/shared/runs', sys.argv[2]) for part in command[1:]]\n"
               "subprocess.run([sys.executable] + parts, check=True)\n");
    const StandIns clouds(concat(keep_requests,
                                 "case $command in *'get trainjob'*|*'get job'*) echo Complete ;;\n"
                                 "*'logs --selector batch'*) cat '",
                                 (folder / "preflight").string(),
                                 "' ;;\n"
                                 "*'run bertpretrain-efa'*) while [[ $1 != --overrides ]]; do shift; done\n" PYTHON " ",
                                 (folder / "pod.py").string(), " \"$2\" ", folder.path().string(), " ;; esac"));
    const CommandResult result =
        run_command(concat("RUN=x ADAPTERS='0 4' ", clouds.command("aws_eks/efa_comparison.sh"), " </dev/null"));
    INFO(result.out << result.err << clouds.calls());
    CHECK(result.exit_code == 0);
    CHECK(has(result.out, "0         efa         48.69         60.25          4.0             1.00"));
    CHECK(has(result.out, "4         efa         48.69         60.25         40.0             0.10"));
    const std::string calls = clouds.calls();
    CHECK(calls.find("vpc.amazonaws.com/efa: 4") > calls.find("kind: TrainJob"));
    CHECK(has(calls, "--require-transport efa"));
}

TEST_CASE("each submission to etcd has a rendezvous id of its own") {
    const auto id = [](const std::string& submission) {
        const std::string text =
            run_command(concat(submission, (launch_folder / "fill.sh").string(), " scripts/launch/aws_eks/torchelastic.yaml"))
                .out;
        const std::size_t from = text.find("PET_RDZV_ID");
        return text.substr(from, text.find('\n', from) - from);
    };
    CHECK(id("SUBMISSION=1 ") != id("SUBMISSION=2 "));
    CHECK(has(id("SUBMISSION=1 RUN=mine "), "mine-1"));
    CHECK(has(id(""), "bert_large-20"));  // a date
}

TEST_CASE("an image is tagged by its commit, and built for the hosts' processors") {
    const StandIns clouds("");
    CHECK(run_command("REGISTRY=registry.example.com " + clouds.command("docker/push.sh gpu")).exit_code == 0);
    const std::string tag = run_command("git describe --always --dirty --abbrev=12 --exclude '*'").out;
    CHECK(has(clouds.calls(), "docker build --platform linux/amd64 "));
    CHECK(has(clouds.calls(), "docker push registry.example.com/bertpretrain:" + tag));
}

TEST_CASE("monitoring.sh installs metrics and logs, and removes what it installed") {
    const StandIns clouds(keep_requests);
    for (const std::string kind : {"prometheus", "cloudwatch"}) {
        CHECK(clouds.run("aws_eks/monitoring.sh create " + kind).exit_code == 0);
        CHECK(clouds.run("aws_eks/monitoring.sh delete " + kind).exit_code == 0);
    }
    const std::string calls = clouds.calls();
    for (const std::string release : {"kube-prometheus-stack", "dcgm-exporter", "victoria-logs"}) {
        CHECK(has(calls, "helm upgrade --install " + release));
        CHECK(has(calls, "helm uninstall " + release));
    }
    for (const std::string kind : {"PodMonitor", "PrometheusRule", "DaemonSet"}) CHECK(has(calls, "kind: " + kind));
    CHECK(has(calls, "create configmap bertpretrain-dashboard"));
    CHECK(has(calls, "eksctl create addon"));
    CHECK(has(calls, "eksctl delete addon"));
    CHECK(clouds.run("aws_eks/monitoring.sh create").exit_code == 2);
}
