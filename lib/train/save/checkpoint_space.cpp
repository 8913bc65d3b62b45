#include "train/save/checkpoint_space.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

std::optional<std::uint64_t> free_bytes(const std::filesystem::path& store) {
    std::error_code failure;
    std::filesystem::path there = std::filesystem::absolute(store).parent_path();
    while (!std::filesystem::exists(there, failure) && there != there.root_path()) there = there.parent_path();
    return free_bytes_of(there);
}

/// The number of checkpoints that checkpoint.keep_every_steps keeps to the end of the run, besides the newest ones.
std::uint64_t kept_for_good(const ExperimentConfig& settings) {
    const CheckpointConfig& config = settings.checkpoint;
    if (config.keep_every_steps == 0 || config.save_every_steps == 0) return 0;
    const std::int64_t between = std::lcm(config.keep_every_steps, config.save_every_steps);
    const std::int64_t newest = config.keep_last * config.save_every_steps;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, settings.schedule.total_steps - newest) / between);
}

[[noreturn]] void refuse(const std::filesystem::path& store, const char* complaint, const CheckpointSpace& space) {
    throw CheckpointError(concat(store.string(), ": ", complaint, ": ", space.words,
                                 "\n  do: free some space, keep fewer checkpoints (checkpoint.keep_last, keep_every_steps), or "
                                 "set --output to a path on a larger disk"));
}

struct ComparedSpace {
    CheckpointSpace space;
    bool holds_one = true;
};

ComparedSpace compared(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const ExperimentConfig& settings,
                       std::uint64_t existing) {
    const CheckpointConfig& config = settings.checkpoint;
    const std::uint64_t for_good = kept_for_good(settings);
    const std::uint64_t kept = static_cast<std::uint64_t>(config.keep_last) + for_good + (config.keep_best ? 2 : 1);
    const std::uint64_t missing = kept - std::min(kept - 1, existing);
    const std::optional<std::uint64_t> there = free_bytes(store);
    const std::string words =
        concat(bytes_text(checkpoint_bytes), " each; ", config.keep_last, " kept",
               for_good > 0 ? concat(", ", for_good, " of checkpoint.keep_every_steps") : "",
               config.keep_best ? ", the best one" : "", " and one being written take ", bytes_text(kept * checkpoint_bytes),
               existing > 0 ? concat(", of which ", existing, " exist") : "",
               "; free now: ", there ? bytes_text(*there) : "not known, the file system does not say");
    return {{words, !there || *there >= missing * checkpoint_bytes}, !there || *there >= checkpoint_bytes};
}

}  // namespace

CheckpointSpace compare_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes,
                              const ExperimentConfig& settings, ExistingCheckpoints existing) {
    const ComparedSpace found = compared(store, checkpoint_bytes, settings, existing.count);
    if (!found.holds_one && existing.deletable == 0) refuse(store, "no space for even one checkpoint", found.space);
    return found.space;
}

std::string require_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const ExperimentConfig& settings) {
    const CheckpointSpace space = compared(store, checkpoint_bytes, settings, 0).space;
    if (!space.holds_all) refuse(store, "no space for all checkpoints", space);
    return space.words;
}

}  // namespace bertpretrain
