#include "train/save/checkpoint_space.h"

#include <algorithm>
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

/// Returns the number of checkpoints on disk at a time: those kept and one being written.
std::uint64_t kept_at_once(const CheckpointConfig& config) {
    return static_cast<std::uint64_t>(config.keep_last) + (config.keep_best ? 2 : 1);
}

[[noreturn]] void refuse(const std::filesystem::path& store, const char* complaint, const CheckpointSpace& space) {
    throw CheckpointError(
        concat(store.string(), ": ", complaint, ": ", space.words,
               "\n  do: free some space, lower checkpoint.keep_last, or set --output to a path on a larger disk"));
}

struct ComparedSpace {
    CheckpointSpace space;
    bool holds_one = true;
};

ComparedSpace compared(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointConfig& config,
                       std::uint64_t existing) {
    const std::uint64_t kept = kept_at_once(config), missing = kept - std::min(kept - 1, existing);
    const std::optional<std::uint64_t> there = free_bytes(store);
    const std::string words =
        concat(bytes_text(checkpoint_bytes), " each; ", config.keep_last, config.keep_best ? " kept, the best one" : " kept",
               " and one being written take ", bytes_text(kept * checkpoint_bytes),
               existing > 0 ? concat(", of which ", existing, " exist") : "",
               "; free now: ", there ? bytes_text(*there) : "not known, the file system does not say");
    return {{words, !there || *there >= missing * checkpoint_bytes}, !there || *there >= checkpoint_bytes};
}

}  // namespace

CheckpointSpace compare_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointConfig& config,
                              ExistingCheckpoints existing) {
    const ComparedSpace found = compared(store, checkpoint_bytes, config, existing.count);
    if (!found.holds_one && existing.deletable == 0) refuse(store, "no space for even one checkpoint", found.space);
    return found.space;
}

std::string require_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointConfig& config) {
    const CheckpointSpace space = compared(store, checkpoint_bytes, config, 0).space;
    if (!space.holds_all) refuse(store, "no space for all checkpoints", space);
    return space.words;
}

}  // namespace bertpretrain
