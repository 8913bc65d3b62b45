#include "preflight/file_checks.h"

#include <optional>

#include <unistd.h>

#include "batches/shard_samples.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/strings.h"
#include "kernels/cpu/operation_threads.h"
#include "operations/machine_memory.h"
#include "plan/memory_plan.h"
#include "shards/remote_folder.h"
#include "storage/object_store.h"
#include "train/save/checkpoint_space.h"
#include "train/save/snapshot.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

std::string room_for(const MemoryPlan& plan, const char* where, std::uint64_t of_rank, std::int64_t ranks,
                     std::uint64_t available) {
    const std::uint64_t needed = of_rank * static_cast<std::uint64_t>(ranks);
    const std::string words = concat(where, bytes_text(needed), " expected at the peak",
                                     ranks > 1 ? concat(" of ", ranks, " ranks") : "", ", ", bytes_text(available), " available");
    if (needed > available)
        throw ConfigError(concat(words, " (of one rank: ", plan.text(), ")\n  do: use a smaller batch.micro_batch_size, ",
                                 "training.activation_checkpointing, parallel.zero_stage 1, or more ranks"));
    return words;
}

}  // namespace

std::string check_shards(const RunPlan& plan, const Launch& launch) {
    const DataPlan& data = plan.data;
    std::vector<fs::path> files;
    std::size_t in_store = 0;  // verified when they are fetched
    for (const fs::path& folder : data.training_shards) {
        const std::vector<fs::path> found = find_shards_anywhere(folder, ShardKind::training, data.cache_folder);
        if (is_object_url(folder.string())) in_store += found.size();
        else files.insert(files.end(), found.begin(), found.end());
    }
    if (plan.settings.evaluation.every_steps > 0)
        for (const fs::path& folder : data.held_out_shards)
            for (const fs::path& file : find_shards_anywhere(folder, ShardKind::held_out, data.cache_folder))
                files.push_back(file);
    const SampledShards sampled = sample_shards(files, row_format(plan), launch.rank, launch.world_size, data.loader_threads);
    return concat(sampled.files, " of ", files.size(), " files sampled, ", with_thousands(sampled.rows), " rows read",
                  in_store == 0 ? "" : concat("; ", in_store, " more in an object store, verified when they are fetched"));
}

std::string check_memory(const RunPlan& plan, const Launch& launch, at::Device device) {
    const MemoryPlan memory = plan_memory(
        plan, layout_of(plan.settings.model, plan.settings.parallel.bucket_mib, launch.world_size), cpu::operation_threads());
    const std::int64_t here = launch.local_world_size;
    if (device.is_cpu()) return room_for(memory, "", memory.peak(), here, available_host_memory());
    return concat(room_for(memory, "GPU: ", memory.on_gpu(), 1, available_memory(device)),
                  room_for(memory, "; host: ", memory.beside_gpu(), here, available_host_memory()));
}

std::string check_disk(const RunPlan& plan, const fs::path& run_folder) {
    const fs::path whole = fs::absolute(run_folder / "").parent_path();
    return require_space(whole / "checkpoints", checkpoint_bytes(plan.settings.model), plan.settings);
}

std::string check_mirror(const ObjectUrl& mirror) {
    constexpr double give_up_seconds = 15;
    const double begin = seconds_now();
    const auto milliseconds = static_cast<std::int64_t>(1e3 * unix_seconds_now());
    const std::string name = concat("preflight-", milliseconds, "-", ::getpid());
    const std::string content = concat("bertpretrain preflight wrote this and did not get to remove it: ", name, "\n");
    std::optional<std::string> found;
    try {
        ObjectStore store(mirror, AwsCredentialSource::of_process(), {.give_up_seconds = give_up_seconds});
        store.write(name, content);
        try {
            found = store.read(name);
        } catch (const Error&) {
            try {
                store.remove(name);
            } catch (const Error&) {}  // the first failure is the one to report
            throw;
        }
        store.remove(name);
    } catch (const DataError& error) {  // no such bucket
        throw ConfigError(concat("checkpoint.mirror = \"", mirror.text(), "\": ", error.what()));
    }
    if (found != content)
        throw CheckpointError(
            concat((mirror / name).text(), ": ",
                   found ? "other bytes were read back than were written" : "was not there after it was written",
                   "\n  do: check the store, and what is between it and this machine; checkpoints would be damaged there"));
    return concat(mirror.text(), ": an object of ", content.size(), " bytes was written, read back and removed in ",
                  duration_text(seconds_now() - begin));
}

}  // namespace bertpretrain
