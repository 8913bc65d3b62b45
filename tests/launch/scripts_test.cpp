// The launch scripts, with stand-ins of the clouds' command lines.
#include <regex>

#include "core/error.h"
#include "launch/stand_ins.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

const fs::path& launch = launch_folder;

std::vector<fs::path> files_below(const fs::path& folder, const std::string& ending) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().extension() == ending) files.push_back(entry.path());
    return files;
}

}  // namespace

TEST_CASE("every manifest is valid for its API, with and without GPUs and EFA; no pod is root or holds a secret") {
    if (run_command(PYTHON " -c 'import kubernetes_validate, kubeflow.training, kubeflow_trainer_api, botocore'").exit_code != 0)
        SKIP_TEST(skip::no_oracle, "no Python with the schemas of Kubernetes, Kubeflow and AWS");
    const CommandResult result = run_command(PYTHON " tests/launch/check_manifests.py");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    for (const std::string kind :
         {"PyTorchJob", "TrainJob", "CronJob", "ClusterConfig", "RegisterJobDefinition", "SubmitJob", "PersistentVolumeClaim"})
        CHECK(has(result.out, kind));
}

TEST_CASE("a manifest with a name that parameters.sh does not set is refused with that name") {
    const TemporaryFolder folder;
    write_text(folder / "some.yaml", "a: ${CLUSTER}\nb: ${NO_SUCH_NAME}\n");
    const CommandResult result = run_command(concat((launch / "fill.sh").string(), " ", (folder / "some.yaml").string()));
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, "NO_SUCH_NAME"));
}

TEST_CASE("a manifest that would have placeholders is refused with their names, and so is a call without a manifest") {
    const std::string fill = (launch / "fill.sh").string();
    const CommandResult result =
        run_command("env -u REGISTRY -u BUCKET " + fill + " " + (launch / "aws_eks/prepare_data.yaml").string());
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK(has(result.err, "REGISTRY=000000000000.dkr.ecr.us-east-1.amazonaws.com is the placeholder"));
    CHECK(has(result.err, "set BUCKET there or in the environment"));
    CHECK_FALSE(has(result.err, "SUBNET"));  // not used there
    CHECK(run_command("env -u BUCKET " + fill + " " + (launch / "aws_eks/pytorchjob.yaml").string()).exit_code == 0);
    CHECK(run_command(fill).exit_code == 2);
}

TEST_CASE("a variable that is already set has precedence over parameters.sh") {
    const TemporaryFolder folder;
    write_text(folder / "some.yaml", "a: ${CLUSTER}\n");
    CHECK(run_command(concat("CLUSTER=mine ", (launch / "fill.sh").string(), " ", (folder / "some.yaml").string())).out ==
          "a: mine\n");
}

TEST_CASE("hosts of an unknown kind need their numbers, and HyperPod a namespace that it looks at") {
    const std::string fill = (launch / "fill.sh").string() + " " + (launch / "aws_eks/pytorchjob.yaml").string();
    const CommandResult unknown = run_command("INSTANCE_TYPE=p9.big GPUS_PER_NODE=8 " + fill);
    CHECK(unknown.exit_code == 2);
    CHECK(has(unknown.err, "INSTANCE_TYPE=p9.big is not a known one, and EFA_PER_NODE is not set"));
    CHECK(
        run_command(
            "INSTANCE_TYPE=p9.big GPUS_PER_NODE=8 EFA_PER_NODE=0 VCPUS_PER_NODE=9 CPUS_PER_NODE=8 MEMORY_GIB_PER_NODE=9 " + fill)
            .exit_code == 0);
    const CommandResult elsewhere = run_command("HYPERPOD=yes NAMESPACE=team " + fill);
    CHECK(elsewhere.exit_code == 2);
    CHECK(has(elsewhere.err, "NAMESPACE=team"));
    const std::string job = run_command("HYPERPOD=yes " + fill).out;
    for (const char* words : {"namespace: hyperpod-bertpretrain", "enable-job-auto-resume: \"true\"", "restartPolicy: OnFailure",
                              "node-health-status: Schedulable"})
        CHECK(has(job, words));
}

TEST_CASE("prepare_data makes shards of every format that the program reads, and of shards that are there already") {
    const TemporaryFolder folder;
    const std::string python =
        concat(PYTHON
               " -c 'import sys, yaml; "
               "print(next(yaml.safe_load_all(sys.stdin))[\"spec\"][\"template\"][\"spec\"][\"containers\"][0][\"args\"][0])'");
    std::string script =
        run_command((launch / "fill.sh").string() + " " + (launch / "aws_eks/prepare_data.yaml").string() + " | " + python).out;
    if (script.empty()) SKIP_TEST(skip::no_oracle, "no Python with PyYAML");
    const auto replace = [&](const std::string& from, const std::string& to) {
        script = std::regex_replace(script, std::regex(from), to);
    };
    replace("/shared", (folder / "shared").string());
    replace("--shards 256", "--shards 2");
    replace("--size 30522", "--size 400");
    write_text(folder / "script", script);
    fs::create_directories(folder / "shared/incoming");
    fs::create_directory(folder / "text");
    std::string records;
    for (int i = 0; i < 200; ++i) {
        std::string text;
        for (int word = 0; word < 120; ++word)
            text += concat(word % 12 == 0 ? "Word" : " word", static_cast<char>('a' + i * 7 % 26),
                           static_cast<char>('a' + word % 26), word % 12 == 11 ? ". " : "");
        records += concat("{\"body\": \"", text, "\"}\n");
    }
    write_text(folder / "text/a.jsonl", records);
    const auto run = [&](const std::string& text) {
        return run_command(concat("PATH=", PROGRAM_FOLDER, ":$PATH TEXT=", text,
                                  " TEXT_OPTIONS=\"--text-field body\" VOCABULARY_FROM= bash -eu ",
                                  (folder / "script").string()));
    };
    const CommandResult made = run((folder / "text").string());
    INFO(made.err);
    CHECK(made.exit_code == 0);
    for (const char* shards : {"shards", "shards_512"}) CHECK(fs::exists(folder / "shared" / shards / "manifest.json"));
    write_text(folder / "shared/incoming/vocab.txt", "[PAD]\n");
    const CommandResult mixed = run("s3://our-bucket/wikipedia/");
    CHECK(mixed.exit_code == 2);
    CHECK(has(mixed.err, "set VOCABULARY"));
    fs::remove(folder / "shared/incoming/vocab.txt");
    for (const auto& entry : fs::directory_iterator(folder / "shared/shards")) fs::copy(entry.path(), folder / "shared/incoming");
    fs::remove_all(folder / "shared/shards");
    CHECK(run("s3://our-bucket/wikipedia/").exit_code == 0);  // shards are moved; nothing is read from the address
    CHECK(fs::exists(folder / "shared/shards/manifest.json"));
}

TEST_CASE("every create script has a delete script, which asks first") {
    for (const fs::path& file : files_below(launch, ".sh")) {
        const std::string name = file.filename().string();
        if (name.starts_with("create")) {
            INFO(file.string());
            CHECK(fs::exists(file.parent_path() / std::regex_replace(name, std::regex("create"), "delete")));
        }
        if (!name.starts_with("delete")) continue;
        INFO(file.string());
        const StandIns clouds("");
        CHECK(clouds.run(fs::relative(file, launch).string(), "yes").exit_code == 2);
        CHECK_FALSE(std::regex_search(clouds.calls(), std::regex(" delete|uninstall|DISABLED")));
    }
}

TEST_CASE("a cluster is not deleted before its volumes") {
    const StandIns clouds("[[ $command != *'get persistentvolumes'* ]] || echo persistentvolume/pvc-1");
    const CommandResult result = clouds.run("aws_eks/delete_cluster.sh", "bertpretrain");
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, "persistentvolume/pvc-1"));
    CHECK_FALSE(has(clouds.calls(), "eksctl"));
    const StandIns without_volumes("");
    CHECK(without_volumes.run("aws_eks/delete_cluster.sh", "bertpretrain").exit_code == 0);
    CHECK(has(without_volumes.calls(), "eksctl delete cluster"));
}

TEST_CASE("the storage is in the workers' zone and the cluster's security group") {
    const StandIns clouds(R"(case $command in
        *vpcId*) echo vpc-7 ;; *clusterSecurityGroupId*) echo sg-7 ;; *describe-subnets*) echo subnet-7 ;;
        *'apply -f -'*) cat >"$0.applied" ;; esac)");
    CHECK(clouds.run("aws_eks/create_storage.sh").exit_code == 0);
    CHECK(has(clouds.calls(), "Name=availability-zone,Values=us-east-1a"));
    const StandIns no_subnet("[[ $command != *describe-subnets* ]] || echo None");
    CHECK(no_subnet.run("aws_eks/create_storage.sh").exit_code == 2);
    CHECK_FALSE(has(no_subnet.calls(), "apply"));
}

TEST_CASE("training starts after the preflight, and only if it passed") {
    const auto clouds_where_preflight = [](const std::string& ends) {
        return std::make_unique<StandIns>(
            "case $command in *'get job'*) echo " + ends +
            " ;; *'get pods'*) echo 'POD HOST EXIT'; echo 'bertpretrain-preflight-1 ip-10-0-0-7 3' ;;"
            " *apply*) cat | grep '^kind' >>\"$(dirname \"$0\")/calls\" ;; esac");
    };
    const auto good = clouds_where_preflight("SuccessCriteriaMet Complete");
    CHECK(good->run("aws_eks/train.sh trainjob").exit_code == 0);
    CHECK(good->calls().find("kind: TrainJob") > good->calls().find("kind: Job"));
    CHECK(has(good->calls(), "kind: TrainJob"));
    const auto bad = clouds_where_preflight("FailureTarget Failed");
    const CommandResult result = bad->run("aws_eks/train.sh trainjob");
    CHECK(result.exit_code == 5);
    CHECK(has(result.err, "ip-10-0-0-7"));
    CHECK_FALSE(has(bad->calls(), "kind: TrainJob"));
}

TEST_CASE("a preflight checks the settings that the job will have") {
    const CommandResult result =
        run_command(concat("TRAIN_OPTIONS='--profile 5 --set batch.micro_batch_size=8 --set data.loader_threads=2' ",
                           (launch / "fill.sh").string(), " ", (launch / "aws_eks/preflight.yaml").string()));
    CHECK(has(result.out, "--set batch.micro_batch_size=8 --set data.loader_threads=2"));
    CHECK_FALSE(has(result.out, "--profile"));  // not an option of preflight
}

TEST_CASE("a job that has ended is deleted before it is started again; a running one stays") {
    const auto calls_where_job = [](const std::string& has_condition) {
        const StandIns clouds("case $command in *'get trainjobs.trainer.kubeflow.org bertpretrain '*) echo '" + has_condition +
                              "' ;; *apply*) cat >/dev/null ;; esac");
        CHECK(clouds.run("aws_eks/train.sh trainjob --without-preflight").exit_code == 0);
        return clouds.calls();
    };
    const std::string deletion = "delete trainjobs.trainer.kubeflow.org bertpretrain";
    const std::string failed = calls_where_job("Failed");
    CHECK(failed.find(deletion) < failed.find("apply"));
    CHECK(has(calls_where_job("Complete"), deletion));
    CHECK_FALSE(has(calls_where_job(""), deletion));
}

TEST_CASE("scaling trains on each number of hosts in turn, each in its own folder") {
    const StandIns clouds(
        "case $command in *'get trainjob'*) echo Complete ;; *'get job'*) echo Complete ;;"
        " *apply*|*'run bertpretrain-table'*) cat | grep -E 'numNodes|runs/|TRAIN_OPTIONS' >>\"$(dirname \"$0\")/calls\" ;; "
        "esac");
    const CommandResult result =
        run_command(concat("STEPS=5 COUNTS='1 4' ", clouds.command("aws_eks/scaling.sh"), " </dev/null"));
    INFO(result.err << clouds.calls());
    CHECK(result.exit_code == 0);
    const std::string calls = clouds.calls();
    CHECK(has(calls, "/shared/runs/bert_large_scaling_1"));
    CHECK(calls.find("numNodes: 4") > calls.rfind("numNodes: 1"));
    CHECK(has(calls, "--set schedule.total_steps=5 "));
    CHECK(has(calls, "--set batch.global_batch_size=0 "));  // grows with the hosts
    CHECK_FALSE(has(calls, "--resume never"));              // with it, a second call would be refused because of the checkpoints
    CHECK(has(calls, R"("report", "--scaling", "/shared/runs/bert_large_scaling_1", "/shared/runs/bert_large_scaling_4"])"));
}

TEST_CASE("a Batch job is registered and submitted with the values and the number of hosts of parameters.sh") {
    const StandIns clouds("[[ $command != *register-job-definition* ]] || echo arn:7");
    const CommandResult result = run_command(concat("NODES=8 RUN=large ", clouds.command("aws_batch/submit.sh")));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(has(clouds.calls(),
              "submit-job --region us-east-1 --job-name large --job-queue bertpretrain --share-identifier default "
              "--job-definition arn:7"));
    CHECK(has(clouds.calls(), "numNodes=8"));
}

TEST_CASE("a Batch job that its compute environment could never start is refused") {
    const StandIns clouds("case $command in *register-job-definition*) echo arn:7 ;; *maxvCpus*) echo 3072 ;; esac");
    CHECK(run_command(concat("NODES=16 ", clouds.command("aws_batch/submit.sh"))).exit_code == 0);
    const CommandResult refused = run_command(concat("NODES=17 ", clouds.command("aws_batch/submit.sh")));
    CHECK(refused.exit_code == 2);
    CHECK(has(refused.err, "maxvCpus=3264"));
}

TEST_CASE("a round of the production loop is a Batch job of the same definition, with another command") {
    const StandIns clouds(R"(file=${command#*file://}; cat "${file%% *}" >>"$(dirname "$0")/calls"
        [[ $command != *register-job-definition* ]] || echo arn:7)");
    const CommandResult result =
        run_command(concat("NODES=3 PIPELINE=/fsx/my.json ", clouds.command("aws_batch/submit.sh"), " pipeline"));
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(has(clouds.calls(), "\"jobDefinition\": \"arn:7\""));
    CHECK(has(clouds.calls(), "\"command\": [\"pipeline\", \"/fsx/my.json\"]"));
    CHECK(has(clouds.calls(), "\"numNodes\": 3"));
    CHECK(run_command(clouds.command("aws_batch/submit.sh") + " nothing").exit_code == 2);
}

TEST_CASE("a Slurm job is requeued after a lost peer, our bug, and a killed or crashed rank") {
    const TemporaryFolder folder;
    write_text(folder / "srun", "#!/bin/sh\nexit $CODE\n");
    write_text(folder / "scontrol", "#!/bin/sh\necho \"$1\"\n");
    for (const std::string name : {"srun", "scontrol"}) fs::permissions(folder / name, fs::perms::owner_all);
    for (const int code : {0, 2, 3, 4, 5, 6, 70, 130, 134, 135, 136, 137, 139, 143}) {
        CAPTURE(code);
        const CommandResult result = run_command(concat("PATH='", folder.path().string(), "':$PATH SLURM_JOB_ID=7 CODE=", code,
                                                        " ", (launch / "slurm.sh").string(), " some.json"));
        const bool is_requeued = code == 5 || code == 70 || (code > 130 && code != 143);
        CHECK(has(result.out, "requeue") == is_requeued);
        CHECK(result.exit_code == (is_requeued ? 0 : code));
    }
}

TEST_CASE("a Slurm job runs its preflight under srun, with the job's settings; if it fails, nothing is trained") {
    const TemporaryFolder folder;
    write_text(folder / "srun", "#!/bin/sh\necho \"srun $*\"\necho $SRUN_CPUS_PER_TASK,$LD_LIBRARY_PATH\nexit $CODE\n");
    fs::permissions(folder / "srun", fs::perms::owner_all);
    write_text(folder / "libnccl-net.so", "");
    const auto job = [&](int code) {
        return run_command(concat("env -u LD_LIBRARY_PATH PATH='", folder.path().string(), "':$PATH SLURM_JOB_ID=7 CODE=", code,
                                  " SLURM_CPUS_PER_TASK=12 NCCL_PLUGIN_FOLDERS='/nowhere ", folder.path().string(), "' ",
                                  (launch / "slurm.sh").string(),
                                  " some.json --profile 5 --set a.b=1 c.d=2 --output runs/x --resume never --set=e.f=3"));
    };
    const CommandResult passed = job(0);
    const std::size_t preflight =
        passed.out.find("bertpretrain preflight some.json --set a.b=1 c.d=2 --output runs/x --set=e.f=3\n");
    CHECK(preflight < passed.out.find("bertpretrain train some.json --profile 5 --set a.b=1 c.d=2"));
    CHECK(has(passed.out, concat("12,", folder.path().string(), "\n")));
    const CommandResult failed = job(2);
    CHECK(failed.exit_code == 2);
    CHECK_FALSE(has(failed.out, "bertpretrain train"));
}

TEST_CASE("a Slurm job goes on at once without the hosts that computed wrongly, and ends when none is left") {
    const TemporaryFolder folder;
    // Each attempt finds another wrong host, as the file of exit records says.
    write_text(folder / "srun",
               "#!/bin/bash\necho \"srun $*\"\n[[ $* == *preflight* ]] && exit 0\nnumber=$(cat calls)\n"
               "echo $((number + 1)) > calls\ncp exit$number.json runs/x/exit.json 2>/dev/null || exit 0\nexit 5\n");
    write_text(folder / "scontrol", "#!/bin/sh\necho \"$1\"\n");
    for (const std::string name : {"srun", "scontrol"}) fs::permissions(folder / name, fs::perms::owner_all);
    fs::create_directories(folder / "runs/x");
    const auto job = [&](const std::vector<std::string>& wrong_hosts) {
        write_text(folder / "calls", "0");
        for (std::size_t i = 0; i < 3; ++i) fs::remove(folder / concat("exit", i, ".json"));
        for (std::size_t i = 0; i < wrong_hosts.size(); ++i)
            write_text(folder / concat("exit", i, ".json"),
                       concat("{\n  \"code\": 5,\n  \"suspects\": [\n    {\n      \"rank\": 1,\n      \"host\": \"",
                              wrong_hosts[i], "\"\n    }\n  ]\n}\n"));
        return run_command(concat("cd '", folder.path().string(), "' && PATH=$PWD:$PATH SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=3 ",
                                  "SLURM_NTASKS=6 ", (launch / "slurm.sh").string(), " some.json --output runs/x"));
    };
    const CommandResult one = job({"node-b"});
    INFO(one.out << one.err);
    CHECK(one.exit_code == 0);
    CHECK(has(one.out, "--exclude=node-b --nodes=2 --ntasks=4 bertpretrain train some.json --output runs/x"));
    const CommandResult all = job({"node-b", "node-a", "node-c"});
    CHECK(has(all.out, "--exclude=node-a,node-b --nodes=1 --ntasks=2 bertpretrain train"));
    CHECK(has(all.out, "no host is left"));
    CHECK(all.exit_code == 5);
}

TEST_CASE("a job is asked to stop by SIGUSR2, because srun kills its tasks at SIGTERM") {
    const TemporaryFolder folder;
    write_text(folder / "srun", "#!/bin/bash\ntrap 'echo USR2; exit 140' USR2\nkill -USR1 $PPID\nsleep 20 & wait\n");
    write_text(folder / "scontrol", "#!/bin/sh\necho \"$1\"\n");
    for (const std::string name : {"srun", "scontrol"}) fs::permissions(folder / name, fs::perms::owner_all);
    const CommandResult result = run_command(concat("PATH='", folder.path().string(), "':$PATH PREFLIGHT=no SLURM_JOB_ID=7 ",
                                                    (launch / "slurm.sh").string(), " some.json"));
    CHECK(has(result.out, "USR2\n"));
    CHECK(has(result.out, "requeue\n"));
}

TEST_CASE("for Kubeflow's ExitCode policy, node.sh adds 128 to the exit codes after which a restart helps") {
    const TemporaryFolder folder;
    write_text(folder / "torchrun", "#!/bin/sh\nexit $CODE\n");
    fs::permissions(folder / "torchrun", fs::perms::owner_all);
    for (const auto& [code, expected] :
         std::vector<std::pair<int, int>>{{0, 0}, {2, 2}, {3, 3}, {4, 4}, {6, 6}, {5, 133}, {143, 143}}) {
        CAPTURE(code);
        CHECK(run_command(concat("env PATH='", folder.path().string(), "':$PATH CODE=", code,
                                 " OMP_NUM_THREADS=1 RETRY_CODES=yes ", (launch / "node.sh").string(), " train some.json"))
                  .exit_code == expected);
    }
}

TEST_CASE("the ranks of a host share the physical cores that the program counts, unless OMP_NUM_THREADS is set") {
    const TemporaryFolder folder;
    write_text(folder / "bertpretrain", "#!/bin/sh\n[ \"$1\" = --physical-cores ] && echo \"${CORES:-32}\"\n");
    write_text(folder / "torchrun", "#!/bin/sh\necho \"$OMP_NUM_THREADS threads\"\n");
    for (const std::string name : {"bertpretrain", "torchrun"}) fs::permissions(folder / name, fs::perms::owner_all);
    const auto threads = [&](const std::string& set) {
        return run_command(concat("env -u OMP_NUM_THREADS PATH='", folder.path().string(), "':$PATH PROCESSES_PER_NODE=8 ", set,
                                  " ", (launch / "node.sh").string(), " train some.json"))
            .out;
    };
    CHECK(threads("") == "4 threads\n");
    CHECK(threads("CORES=6") == "1 threads\n");
    CHECK(threads("OMP_NUM_THREADS=3") == "3 threads\n");
}

TEST_CASE("images do not run as root, and name their base image with a version") {
    for (const std::string name : {"Dockerfile.cpu", "Dockerfile.gpu"}) {
        const std::string text = read_text(launch / "docker" / name);
        INFO(name);
        CHECK(has(text.substr(text.rfind("\nFROM")), "\nUSER 1000:1000\n"));
        CHECK(has(text.substr(text.rfind("\nFROM")), "RUN bertpretrain --version"));
        const std::regex base("\nFROM ([^ \n]+)");
        for (std::sregex_iterator from(text.begin(), text.end(), base), end; from != end; ++from)
            CHECK(std::regex_search((*from)[1].str(), std::regex(":[0-9]")));
    }
}
