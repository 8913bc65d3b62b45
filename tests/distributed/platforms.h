#pragma once
// Simulates AWS Batch and Slurm: their commands, and the variables that they document, for two hosts.

#include <filesystem>
#include <string>

#include <unistd.h>

#include "core/error.h"
#include "distributed/hosts.h"
#include "distributed/ranks.h"

namespace bertpretrain::testing {

/// The programs and torchrun on PATH, as in an image.
inline std::string installed() {
    return concat("env OMP_NUM_THREADS=1 PATH=" PROGRAM_FOLDER ":", std::filesystem::path(torchrun).parent_path().string(),
                  ":$PATH ");
}

/// Returns the command of one node of a multi-node parallel job, with the arguments of node.sh. The main node does not get its
/// own address.
inline std::string batch_node(const TwoHosts& hosts, int node, int attempt, int processes, const std::string& arguments) {
    const std::string main_address =
        node == 0 ? "" : concat("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS=", TwoHosts::address(0), " ");
    return hosts.on(
        node, concat(installed(), "AWS_BATCH_JOB_NUM_NODES=2 AWS_BATCH_JOB_MAIN_NODE_INDEX=0 AWS_BATCH_JOB_NODE_INDEX=", node,
                     " AWS_BATCH_JOB_ATTEMPT=", attempt, " ", main_address, "PROCESSES_PER_NODE=", processes,
                     " scripts/launch/node.sh ", arguments));
}

/// srun and scontrol for one task on each of two hosts. srun ends with the highest code of its tasks, and with
/// --kill-on-bad-exit stops the others a while after the first bad end. It passes SIGUSR2 on; at SIGTERM it kills the tasks
/// ("forcing job termination"). scontrol leaves a file.
inline void write_slurm_commands(const TemporaryFolder& folder, const TwoHosts& hosts) {
    const std::string variables = concat(
        "SLURM_STEP_ID=0 SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NUM_NODES=2 SLURM_LOCALID=0 SLURM_STEP_NODELIST=",
        TwoHosts::address(0), ",", TwoHosts::address(1));
    std::string srun = "#!/usr/bin/env bash\nwhile [[ $1 == --* ]]; do shift; done\n";
    for (const int task : {0, 1})
        srun += concat(hosts.on(task, concat("env ", variables, " SLURM_PROCID=", task, " SLURM_NODEID=", task)),
                       " \"$@\" & tasks+=($!)\n");
    srun +=
        "trap 'kill -USR2 \"${tasks[@]}\"' USR2\ntrap 'kill -KILL \"${tasks[@]}\"' TERM\nhighest=0\n"
        "for task in \"${tasks[@]}\"; do code=0; wait \"$task\" || code=$?; "
        "((code <= highest)) || highest=$code; done\nexit $highest\n";
    write_text(folder / "srun", srun);
    write_text(folder / "scontrol", concat("#!/usr/bin/env bash\necho \"$*\" >'", (folder / "queued").string(), "'\n"));
    for (const std::string name : {"srun", "scontrol"})
        std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
}

/// Returns the command that Slurm starts on the first host, with the arguments of slurm.sh.
inline std::string batch_script(const TemporaryFolder& commands, int restart, const std::string& arguments) {
    return concat("env PATH=", commands.path().string(),
                  ":" PROGRAM_FOLDER ":$PATH OMP_NUM_THREADS=1 PREFLIGHT=no SLURM_JOB_ID=", ::getpid(),
                  " SLURM_RESTART_COUNT=", restart, " bash scripts/launch/slurm.sh ", arguments);
}

/// Kills the program on the second host, like the out-of-memory killer.
inline void kill_second_rank() {
    run_command(concat("ip netns pids $(ip netns list | grep -o 'bp", ::getpid(),
                       "b') | while read -r pid; do [ \"$(cat /proc/$pid/comm)\" != bertpretrain ] || kill -9 $pid; done"));
}

}  // namespace bertpretrain::testing
