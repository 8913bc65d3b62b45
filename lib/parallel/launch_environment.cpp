#include "parallel/launch_environment.h"

#include <charconv>
#include <climits>

#include "core/error.h"
#include "core/files/files.h"
#include "core/strings.h"
#include "parallel/slurm_hosts.h"

namespace bertpretrain {
namespace {

/// The default port of torch's own launchers.
constexpr std::int64_t usual_port = 29500;
constexpr std::int64_t most_ranks = 1'000'000;

/// Reads texts and numbers from environment variables.
class Reader {
public:
    explicit Reader(const Variables& variable) : variable_(variable) {}

    bool has(const std::string& name) const { return variable_(name).has_value(); }
    std::string text(const std::string& name, const std::string& fallback) const { return variable_(name).value_or(fallback); }

    std::string required_text(const std::string& name, const std::string& because) const {
        const auto value = variable_(name);
        if (!value)
            throw ConfigError(concat("environment: ", name, " is not set, but ", because, "\n  do: set it on every rank"));
        return *value;
    }

    std::int64_t number(const std::string& name, std::int64_t least, std::int64_t most, std::int64_t fallback) const {
        const auto text = variable_(name);
        if (!text) return fallback;
        std::int64_t value = 0;
        const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (failure != std::errc() || end != text->data() + text->size() || value < least || value > most)
            throw ConfigError(concat("environment: ", name, " = \"", *text, "\": expected an integer from ", least, " to ", most,
                                     text->starts_with("tcp://")
                                         ? "\n  do: Kubernetes sets such variables for each Service; give the Service "
                                           "another name, or set enableServiceLinks: false in the pod"
                                         : ""));
        return value;
    }

    std::int64_t required(const std::string& name, std::int64_t least, std::int64_t most, const std::string& because) const {
        required_text(name, because);
        return number(name, least, most, least);
    }

private:
    const Variables& variable_;
};

/// Reads rank and world size from the launcher's variables `rank` and `size`.
void read_place(const Reader& read, const std::string& rank, const std::string& size, Launch& launch) {
    launch.world_size = read.required(size, 1, most_ranks, concat(rank, " is"));
    launch.rank = read.required(rank, 0, most_ranks, concat(size, " is"));
    if (launch.rank >= launch.world_size)
        throw ConfigError(concat("environment: ", rank, " = ", launch.rank, " contradicts ", size, " = ", launch.world_size,
                                 "; expected a rank from 0 to ", launch.world_size - 1));
}

void read_local_place(const Reader& read, const std::string& rank, const std::string& size, Launch& launch) {
    launch.local_rank = read.number(rank, 0, launch.world_size - 1, 0);
    launch.local_world_size = read.number(size, 1, launch.world_size, launch.local_rank + 1);
    if (launch.local_rank >= launch.local_world_size)
        throw ConfigError(
            concat("environment: ", rank, " = ", launch.local_rank, " contradicts ", size, " = ", launch.local_world_size));
}

/// Reads MASTER_ADDR and MASTER_PORT. `address` ("": none) and `port` (0: none) are the launcher's own values: the address takes
/// precedence over MASTER_ADDR, the port is only a default.
void read_master(const Reader& read, const std::string& address, std::int64_t port, Launch& launch) {
    if (launch.world_size == 1 && !launch.agent_keeps_store) return;
    const std::string because = concat(launch.launcher, " started ", launch.world_size, " ranks, which connect to rank 0's host");
    launch.master_address = address.empty() ? read.required_text("MASTER_ADDR", because) : read.text("MASTER_ADDR", address);
    launch.master_port = static_cast<std::uint16_t>(port > 0 ? read.number("MASTER_PORT", 1, 65535, port)
                                                             : read.required("MASTER_PORT", 1, 65535, because));
}

Launch from_rank_and_world_size(const Reader& read) {
    Launch launch;
    const bool elastic = read.has("TORCHELASTIC_RUN_ID");
    launch.launcher = elastic ? "torchrun" : read.has(local_ranks_variable) ? "--local-ranks" : "RANK and WORLD_SIZE";
    read_place(read, "RANK", "WORLD_SIZE", launch);
    read_local_place(read, "LOCAL_RANK", "LOCAL_WORLD_SIZE", launch);
    launch.attempt =
        read.number("TORCHELASTIC_RESTART_COUNT", 0, most_ranks, read.number(local_attempt_variable, 0, most_ranks, 0));
    launch.local_store = static_cast<int>(read.number(local_store_variable, 0, INT_MAX, -1));
    if (launch.local_store >= 0) return launch;
    const std::string agent = read.text("TORCHELASTIC_USE_AGENT_STORE", "");
    launch.agent_keeps_store = agent == "True" || agent == "true" || agent == "1";
    read_master(read, "", 0, launch);
    return launch;
}

/// The variables of an MPI's mpirun.
struct MpiVariables {
    const char *launcher, *rank, *size, *local_rank, *local_size;
};
constexpr MpiVariables open_mpi = {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                   "OMPI_COMM_WORLD_LOCAL_SIZE"};
/// srun sets PMI_RANK and PMI_SIZE too, so its own variables are read first.
constexpr MpiVariables mpich = {"MPICH or Intel MPI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
constexpr MpiVariables mvapich = {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
                                  "MV2_COMM_WORLD_LOCAL_SIZE"};

bool started_by(const MpiVariables& mpi, const Reader& read) { return read.has(mpi.rank) || read.has(mpi.size); }

Launch from_mpi(const MpiVariables& mpi, const Reader& read) {
    Launch launch;
    launch.launcher = mpi.launcher;
    read_place(read, mpi.rank, mpi.size, launch);
    read_local_place(read, mpi.local_rank, mpi.local_size, launch);
    read_master(read, launch.on_one_host() ? "127.0.0.1" : "", usual_port, launch);
    return launch;
}

/// Reads srun's variables. A batch script that starts the program without srun has no SLURM_STEP_ID and is a single process.
Launch from_slurm(const Reader& read) {
    Launch launch;
    launch.launcher = "Slurm";
    const char* size = read.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
    read_place(read, "SLURM_PROCID", size, launch);
    const std::string hosts = read.text("SLURM_STEP_NODELIST", read.text("SLURM_JOB_NODELIST", ""));
    const bool one_node = read.number("SLURM_STEP_NUM_NODES", 1, most_ranks, 1) == 1 && expand_hosts(hosts, 2).size() < 2;
    launch.local_rank = read.number("SLURM_LOCALID", 0, launch.world_size - 1, 0);
    launch.local_world_size = one_node ? launch.world_size : launch.local_rank + 1;
    launch.attempt = read.number("SLURM_RESTART_COUNT", 0, most_ranks, 0);
    // Two steps of one job, or two jobs on one host, must not use the same port.
    const std::int64_t job = read.number("SLURM_JOB_ID", 0, INT64_MAX / 8, 0),
                       step = read.number("SLURM_STEP_ID", 0, INT64_MAX / 8, 0);
    const auto first = expand_hosts(hosts, 1);
    read_master(read, first.empty() ? "" : first.front(), 20000 + (job * 7 + step) % 10000, launch);
    return launch;
}

/// One process per node. AWS Batch does not set the main node's address on the main node itself.
Launch from_aws_batch(const Reader& read) {
    Launch launch;
    launch.launcher = "AWS Batch";
    Launch node;
    read_place(read, "AWS_BATCH_JOB_NODE_INDEX", "AWS_BATCH_JOB_NUM_NODES", node);
    const std::int64_t nodes = launch.world_size = node.world_size;
    const std::int64_t main = read.required("AWS_BATCH_JOB_MAIN_NODE_INDEX", 0, nodes - 1, "AWS_BATCH_JOB_NODE_INDEX is");
    launch.rank = (node.rank - main + nodes) % nodes;  // the main node decides the job's status, so it is rank 0
    launch.attempt = read.number("AWS_BATCH_JOB_ATTEMPT", 1, most_ranks, 1) - 1;
    const std::string address = launch.rank == 0 || nodes == 1
                                    ? "0.0.0.0"  // this host
                                    : read.required_text("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS",
                                                         concat("this is node ", node.rank, " and the main node is ", main));
    read_master(read, address, usual_port, launch);
    if (launch.rank == 0 && nodes > 1) launch.master_address = address;
    return launch;
}

Launch from_pet(const Reader& read) {
    Launch launch;
    launch.launcher = "PET variables";
    const std::string per_node = read.text("PET_NPROC_PER_NODE", "1"), nodes = read.text("PET_NNODES", "1");
    if (per_node != "1" || nodes.find(':') != nodes.npos || (nodes != "1" && !read.has("PET_NODE_RANK")))
        throw ConfigError(concat("environment: PET_NNODES = \"", nodes, "\", PET_NPROC_PER_NODE = \"", per_node,
                                 "\" and PET_NODE_RANK ", read.has("PET_NODE_RANK") ? "set" : "not set",
                                 ": several processes per node, or a variable number of nodes, need torchrun\n  do: ",
                                 "start `torchrun --no-python bertpretrain train ...`, which reads the same variables"));
    launch.world_size = read.number("PET_NNODES", 1, most_ranks, 1);
    if (launch.world_size > 1) read_place(read, "PET_NODE_RANK", "PET_NNODES", launch);
    if (launch.world_size == 1) return launch;
    read_master(read, read.required_text("PET_MASTER_ADDR", "PET_NNODES is above 1"),
                read.number("PET_MASTER_PORT", 1, 65535, usual_port), launch);
    return launch;
}

Launch launch_of(const Reader& read) {
    if (read.has("RANK") || read.has("WORLD_SIZE")) return from_rank_and_world_size(read);
    if (started_by(open_mpi, read)) return from_mpi(open_mpi, read);
    if (read.has("SLURM_PROCID") && read.has("SLURM_STEP_ID")) return from_slurm(read);
    if (started_by(mvapich, read)) return from_mpi(mvapich, read);
    if (started_by(mpich, read)) return from_mpi(mpich, read);
    if (read.has("AWS_BATCH_JOB_NODE_INDEX") || read.has("AWS_BATCH_JOB_NUM_NODES")) return from_aws_batch(read);
    if (read.has("PET_NNODES") || read.has("PET_NODE_RANK") || read.has("PET_NPROC_PER_NODE")) return from_pet(read);
    Launch alone;
    if (read.has("SLURM_JOB_ID") && !read.has("SLURM_STEP_ID"))
        alone.unused_tasks = read.number("SLURM_NTASKS", 1, most_ranks, 1);
    return alone;
}

/// PyTorch 2.11's wheel loads the certificates but then connects without TLS: a rank with this setting and one without it can
/// connect to each other.
void refuse_tls(const Reader& read) {
    if (read.text(gloo_transport_variable, "") == "TCP_TLS")
        throw ConfigError(concat("environment: ", gloo_transport_variable,
                                 " = \"TCP_TLS\": PyTorch 2.11 accepts this setting but sends ",
                                 "everything unencrypted\n  do: unset it, and train on a network that you trust, or ",
                                 "encrypt all traffic between the hosts (WireGuard, IPsec)"));
}

/// Reads the secret from its variable or file; leaves `secret` unchanged where neither is set.
void read_secret(const Reader& read, std::string& secret) {
    constexpr std::size_t least = 16;
    if (!read.has(secret_variable) && !read.has(secret_file_variable)) return;
    if (read.has(secret_variable) && read.has(secret_file_variable))
        throw ConfigError(
            concat("environment: ", secret_variable, " and ", secret_file_variable, " are both set\n  do: unset one"));
    std::string source = secret_variable;
    if (read.has(secret_file_variable)) {
        const std::string file = read.text(secret_file_variable, "");
        source = concat(secret_file_variable, " = \"", file, "\"");
        try {
            secret = first_line(read_file(file));
        } catch (const Error& error) { throw ConfigError(concat("environment: ", source, ": ", error.what())); }
    } else {
        secret = read.text(secret_variable, "");
    }
    if (secret.size() < least)
        throw ConfigError(concat("environment: ", source, ": the secret has ", secret.size(), " characters; expected at ",
                                 "least ", least, "\n  do: create one with `openssl rand -hex 32` and set it on all ranks"));
}

}  // namespace

Launch read_launch(const Variables& variable) {
    const Reader read(variable);
    Launch launch = launch_of(read);
    if (launch.world_size > 1) refuse_tls(read);
    if (launch.world_size > 1 && launch.local_store < 0) read_secret(read, launch.secret);
    launch.again = launch.attempt > 0 || read.has(restart_variable);
    launch.forces_world = read.number(force_world_variable, 0, 1, 0) == 1;
    return launch;
}

}  // namespace bertpretrain
