#include "parallel/launch_environment.h"

#include <map>

#include "core/error.h"
#include "parallel/slurm_hosts.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"
#include "support/folders.h"

using namespace bertpretrain;
using bertpretrain::testing::contains;

namespace {

using Values = std::map<std::string, std::string>;

Launch launch_of(const Values& values) {
    return read_launch([&](const std::string& name) {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
    });
}

Values with(Values values, const Values& more) {
    for (const auto& [name, value] : more) values[name] = value;
    return values;
}

Values without(Values values, const std::string& name) {
    values.erase(name);
    return values;
}

std::string refusal(const Values& values) {
    try {
        launch_of(values);
    } catch (const ConfigError& error) { return error.what(); }
    return "not refused";
}

const Values torchrun = {{"RANK", "5"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "4"},
                         {"MASTER_ADDR", "10.0.0.7"},
                         {"MASTER_PORT", "29400"},
                         {"TORCHELASTIC_RUN_ID", "job"},
                         {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                         {"TORCHELASTIC_RESTART_COUNT", "2"},
                         {"PET_NNODES", "2"}};
const Values open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Values slurm = {{"SLURM_PROCID", "3"},         {"SLURM_NTASKS", "8"},
                      {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_STEP_ID", "0"},
                      {"SLURM_LOCALID", "1"},        {"SLURM_STEP_NUM_NODES", "3"},
                      {"SLURM_JOB_ID", "4711"},      {"SLURM_STEP_NODELIST", "gpu[07-09]"},
                      {"SLURM_RESTART_COUNT", "1"}};
const Values aws_main = {{"AWS_BATCH_JOB_NODE_INDEX", "1"},
                         {"AWS_BATCH_JOB_NUM_NODES", "4"},
                         {"AWS_BATCH_JOB_MAIN_NODE_INDEX", "1"},
                         {"AWS_BATCH_JOB_ATTEMPT", "3"}};
const Values aws_child =
    with(aws_main, {{"AWS_BATCH_JOB_NODE_INDEX", "0"}, {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS", "10.1.2.3"}});

}  // namespace

TEST_CASE("without any launcher's variables the world is one process") {
    const Launch launch = launch_of({{"PATH", "/bin"}, {"SLURM_JOB_ID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}});
    CHECK(launch.launcher == "none");
    CHECK(launch.world_size == 1);
    CHECK(launch.unused_tasks == 4);
    CHECK(launch_of({{"SLURM_NTASKS", "4"}}).unused_tasks == 1);  // no job of Slurm's
    CHECK(launch_of(slurm).unused_tasks == 1);
}

TEST_CASE("torchrun's variables come before those of the scheduler that started it") {
    const Launch launch = launch_of(with(torchrun, slurm));
    CHECK(launch.launcher == "torchrun");
    CHECK((launch.rank == 5 && launch.world_size == 8 && launch.local_rank == 1 && launch.local_world_size == 4));
    CHECK((launch.master_address == "10.0.0.7" && launch.master_port == 29400));
    CHECK(launch.agent_keeps_store);
    CHECK(launch.attempt == 2);
    CHECK(launch.again);
    CHECK_FALSE(launch.on_one_host());
}

TEST_CASE("plain RANK and WORLD_SIZE need an address and a port, and rank 0 keeps the store") {
    const Values plain = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "head"}, {"MASTER_PORT", "1234"}};
    CHECK_FALSE(launch_of(plain).agent_keeps_store);
    CHECK(refusal(without(plain, "MASTER_ADDR")).find("MASTER_ADDR is not set") != std::string::npos);
    CHECK(refusal(without(plain, "MASTER_PORT")).find("MASTER_PORT is not set") != std::string::npos);
    CHECK(refusal(without(plain, "RANK")).find("RANK is not set") != std::string::npos);
    CHECK(refusal(without(plain, "WORLD_SIZE")).find("WORLD_SIZE is not set") != std::string::npos);
    CHECK(launch_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).world_size == 1);
}

TEST_CASE("Open MPI needs the address of rank 0's host on several hosts, and nothing on one") {
    const Launch launch = launch_of(open_mpi);
    CHECK((launch.launcher == "Open MPI" && launch.rank == 1 && launch.world_size == 2 && launch.local_rank == 1));
    CHECK((launch.master_address == "127.0.0.1" && launch.master_port == 29500));
    const Values several = with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
    CHECK(refusal(several).find("MASTER_ADDR is not set") != std::string::npos);
    CHECK(launch_of(with(several, {{"MASTER_ADDR", "head"}})).master_address == "head");
}

TEST_CASE("ranks that MPICH, Intel MPI or MVAPICH started share one run, and do not train alone") {
    const Values mpich = {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
    CHECK(contains(refusal(mpich), "MASTER_ADDR is not set, but MPICH or Intel MPI started 4 ranks"));
    const Launch launch = launch_of(with(mpich, {{"MASTER_ADDR", "node1"}}));
    CHECK((launch.rank == 3 && launch.world_size == 4 && launch.local_rank == 1 && launch.local_world_size == 2));
    CHECK(launch.master_port == 29500);
    const Launch mvapich = launch_of({{"MV2_COMM_WORLD_RANK", "1"},
                                      {"MV2_COMM_WORLD_SIZE", "2"},
                                      {"MV2_COMM_WORLD_LOCAL_RANK", "1"},
                                      {"MV2_COMM_WORLD_LOCAL_SIZE", "2"},
                                      {"PMI_RANK", "1"},
                                      {"PMI_SIZE", "2"}});
    CHECK((mvapich.launcher == "MVAPICH" && mvapich.rank == 1 && mvapich.master_address == "127.0.0.1"));
    CHECK(launch_of(with(slurm, {{"PMI_RANK", "0"}, {"PMI_SIZE", "6"}})).launcher == "Slurm");
    CHECK(contains(refusal({{"PMI_SIZE", "2"}}), "PMI_RANK is not set"));
}

TEST_CASE("a port that Kubernetes set for a Service of that name is refused with the cause") {
    const std::string told = refusal(with(torchrun, {{"MASTER_PORT", "tcp://10.0.0.1:23456"}}));
    CHECK(contains(told, "MASTER_PORT = \"tcp://10.0.0.1:23456\": expected an integer from 1 to 65535"));
    CHECK(contains(told, "enableServiceLinks: false"));
    CHECK(!contains(refusal(with(torchrun, {{"MASTER_PORT", "x"}})), "Kubernetes"));
}

TEST_CASE("Slurm's step determines the rank, its first host the store's address, and its job the port") {
    const Launch launch = launch_of(slurm);
    CHECK((launch.launcher == "Slurm" && launch.rank == 3 && launch.world_size == 6 && launch.local_rank == 1));
    CHECK(launch.master_address == "gpu07");
    CHECK(launch.attempt == 1);
    const Launch next_step = launch_of(with(slurm, {{"SLURM_STEP_ID", "1"}}));
    CHECK(launch.master_port != next_step.master_port);
    CHECK(launch_of(with(slurm, {{"MASTER_PORT", "777"}})).master_port == 777);
    CHECK(launch_of(with(slurm, {{"SLURM_STEP_NODELIST", "one"}, {"SLURM_STEP_NUM_NODES", "1"}})).on_one_host());
}

TEST_CASE("on AWS Batch the main node is rank 0 and listens without an address of its own") {
    const Launch main = launch_of(aws_main), child = launch_of(aws_child);
    CHECK((main.rank == 0 && main.world_size == 4 && main.attempt == 2 && main.master_address == "0.0.0.0"));
    CHECK((child.rank == 3 && child.master_address == "10.1.2.3" && child.master_port == main.master_port));
    CHECK(launch_of(with(aws_child, {{"AWS_BATCH_JOB_NODE_INDEX", "2"}})).rank == 1);
    CHECK(refusal(without(aws_child, "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS")).find("PRIVATE_IPV4_ADDRESS is not set") !=
          std::string::npos);
}

TEST_CASE("PET variables without torchrun are accepted for one process per node, and refused for more") {
    const Values pet = {{"PET_NNODES", "2"},
                        {"PET_NPROC_PER_NODE", "1"},
                        {"PET_NODE_RANK", "1"},
                        {"PET_MASTER_ADDR", "job-0"},
                        {"PET_MASTER_PORT", "2940"}};
    const Launch launch = launch_of(pet);
    CHECK((launch.rank == 1 && launch.world_size == 2 && launch.master_address == "job-0" && launch.master_port == 2940));
    CHECK(refusal(with(pet, {{"PET_NPROC_PER_NODE", "8"}})).find("torchrun") != std::string::npos);
    CHECK(refusal(with(pet, {{"PET_NNODES", "1:4"}})).find("torchrun") != std::string::npos);
}

TEST_CASE("contradictory variables and values that are not numbers are refused by name") {
    CHECK(refusal(with(torchrun, {{"RANK", "8"}})).find("RANK = 8 contradicts WORLD_SIZE = 8") != std::string::npos);
    CHECK(refusal(with(torchrun, {{"WORLD_SIZE", "many"}})).find("WORLD_SIZE = \"many\"") != std::string::npos);
    CHECK(refusal(with(torchrun, {{"LOCAL_RANK", "4"}})).find("LOCAL_RANK = 4 contradicts") != std::string::npos);
    CHECK(refusal(with(torchrun, {{"MASTER_PORT", "70000"}})).find("MASTER_PORT = \"70000\"") != std::string::npos);
    CHECK(refusal(with(slurm, {{"SLURM_PROCID", "6"}})).find("SLURM_PROCID = 6 contradicts") != std::string::npos);
    CHECK(refusal(without(open_mpi, "OMPI_COMM_WORLD_RANK")).find("OMPI_COMM_WORLD_RANK is not set") != std::string::npos);
}

TEST_CASE("a secret comes from a variable or from the first line of a file, and has 16 characters or more") {
    const Values plain = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "head"}, {"MASTER_PORT", "1234"}};
    const testing::TemporaryFolder folder;
    testing::write_text(folder / "secret", "of sixteen bytes\n");
    const std::string file = (folder / "secret").string(), secret = "of sixteen bytes";
    CHECK(launch_of(plain).secret.empty());
    CHECK(launch_of(with(plain, {{secret_variable, secret}})).secret == secret);
    CHECK(launch_of(with(plain, {{secret_file_variable, file}})).secret == secret);
    CHECK(refusal(with(plain, {{secret_variable, "fifteen bytes.."}})).find("BERTPRETRAIN_SECRET: the secret has 15") !=
          std::string::npos);
    CHECK(refusal(with(plain, {{secret_file_variable, file + ".missing"}})).find("secret.missing") != std::string::npos);
    CHECK(refusal(with(plain, {{secret_variable, secret}, {secret_file_variable, file}})).find("are both set") !=
          std::string::npos);
}

TEST_CASE("TLS for Gloo, which PyTorch accepts but does not apply, is refused") {
    const Values plain = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "head"}, {"MASTER_PORT", "1234"}};
    CHECK(refusal(with(plain, {{gloo_transport_variable, "TCP_TLS"}})).find("unencrypted") != std::string::npos);
    CHECK(launch_of(with(plain, {{gloo_transport_variable, "TCP"}})).world_size == 2);
}

TEST_CASE("ranks of --local-ranks need no address, because their store is an inherited file") {
    const Launch launch = launch_of({{"RANK", "1"},
                                     {"WORLD_SIZE", "2"},
                                     {"LOCAL_RANK", "1"},
                                     {"LOCAL_WORLD_SIZE", "2"},
                                     {local_ranks_variable, "2"},
                                     {local_store_variable, "5"}});
    CHECK((launch.launcher == "--local-ranks" && launch.local_store == 5 && launch.on_one_host()));
    CHECK(launch_of(torchrun).local_store == -1);
}

TEST_CASE("Slurm's lists of hosts are expanded as `scontrol show hostnames` does") {
    CHECK(expand_hosts("gpu[01-03,7],login", 9) == std::vector<std::string>{"gpu01", "gpu02", "gpu03", "gpu7", "login"});
    CHECK(expand_hosts("r[1-2]n[08-09]", 9) == std::vector<std::string>{"r1n08", "r1n09", "r2n08", "r2n09"});
    CHECK(expand_hosts("n[098-100]x", 9) == std::vector<std::string>{"n098x", "n099x", "n100x"});
    CHECK(expand_hosts("n[1-999999999]", 2) == std::vector<std::string>{"n1", "n2"});
    CHECK(expand_hosts("", 9).empty());
    CHECK(expand_hosts("bad[1-", 9).empty());
}
