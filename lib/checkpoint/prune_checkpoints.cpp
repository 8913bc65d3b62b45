// The members of CheckpointStore that delete checkpoints and move them aside.

#include <algorithm>
#include <system_error>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

std::int64_t step_of(const fs::path& folder) { return *step_of_folder_name(folder.filename().string()); }

/// Creates a new folder, named `wanted` or, where that exists, `wanted`.2, .3, ... @returns its path
fs::path new_folder(const fs::path& wanted) {
    fs::path folder = wanted;
    for (int number = 2;; ++number) {
        std::error_code failure;
        if (fs::create_directory(folder, failure)) return folder;
        if (failure) throw CheckpointError(concat(folder.string(), ": cannot be created (", failure.message(), ")"));
        folder = wanted.string() + "." + std::to_string(number);
    }
}

/// Decides what to delete. prune() repeats the decision after each checkpoint that turns out to be damaged or unreadable.
class Pruning {
public:
    using Keep = CheckpointStore::Keep;
    Pruning(const Keep& keep, CheckpointStore::Pruned& out, const std::function<void()>& sign_of_life)
        : keep_(keep), out_(out), sign_of_life_(sign_of_life) {}

    /// Returns those of `counted` (oldest first) that no rule keeps.
    std::vector<fs::path> surplus(const std::vector<fs::path>& counted, const std::optional<fs::path>& best) const {
        std::vector<fs::path> found;
        for (std::size_t i = 0; i + newest() < counted.size(); ++i) {
            const std::int64_t step = step_of(counted[i]);
            const bool every = keep_.every > 0 && step % keep_.every == 0;
            const bool newest_agreed = keep_.agreed && step <= *keep_.agreed && step_of(counted[i + 1]) > *keep_.agreed;
            if (!every && !newest_agreed && !keep_.steps.contains(step) && counted[i] != best) found.push_back(counted[i]);
        }
        return found;
    }

    /// Returns one of the newest or best checkpoints that is not known to be intact; nullopt where all are.
    std::optional<fs::path> doubtful(const std::vector<fs::path>& counted, const std::optional<fs::path>& best) const {
        for (std::size_t i = counted.size(); i > 0 && i + newest() > counted.size(); --i)
            if (!out_.whole.contains(step_of(counted[i - 1]))) return counted[i - 1];
        return best && !out_.whole.contains(step_of(*best)) ? best : std::nullopt;
    }

    /// Verifies a doubtful checkpoint and moves a damaged one aside. @returns whether it is intact
    bool verify(const fs::path& folder) {
        if (!keep_.verify) {
            left_doubts_ = true;
            return false;
        }
        std::string damage;
        try {
            damage = damage_of_contents(folder, read_mark(folder), sign_of_life_);
        } catch (const CheckpointError& error) {
            left_doubts_ = true;
            out_.warnings.push_back(
                concat(error.what(), "\n  this checkpoint is kept but does not count: older ones are kept in its place"));
            return false;
        }
        if (damage.empty()) out_.whole.insert(step_of(folder));
        else set_aside(folder, damage);
        return damage.empty();
    }

    /// Whether a checkpoint that may be intact was not counted.
    bool left_doubts() const { return left_doubts_; }

private:
    std::size_t newest() const { return static_cast<std::size_t>(std::max<std::int64_t>(keep_.last, 1)); }

    void set_aside(const fs::path& folder, const std::string& damage) {
        if (keep_.steps.contains(step_of(folder))) return;  // in use: a later prune() finds it again
        const fs::path aside = CheckpointStore(folder.parent_path()).set_damaged_aside(folder);
        out_.warnings.push_back(concat(damage, "\n  this checkpoint was moved to ", aside.string(),
                                       ", where the program does not use it; older checkpoints are kept in its place"));
    }

    const Keep& keep_;
    CheckpointStore::Pruned& out_;
    const std::function<void()>& sign_of_life_;
    bool left_doubts_ = false;
};

}  // namespace

/// Ignores failures: a file system without symbolic links has no link "best", but the checkpoint is still kept.
void CheckpointStore::lead_to(const fs::path& best) const {
    const fs::path link = folder_ / best_link, partial = folder_ / (std::string(best_link) + ".partial");
    std::error_code failure;
    for (const fs::path& name : {link, partial})
        if (exists_here(name) && !fs::is_symlink(name, failure)) return;  // the user's
    if (fs::read_symlink(link, failure) == best.filename()) return;
    fs::remove(partial, failure);
    fs::create_symlink(best.filename(), partial, failure);
    if (!failure) fs::rename(partial, link, failure);
}

void CheckpointStore::remove_dangling_link() const {
    std::error_code ignored;
    if (const fs::path link = folder_ / best_link; fs::is_symlink(link, ignored) && !exists_here(link)) fs::remove(link, ignored);
}

CheckpointStore::Pruned CheckpointStore::prune(const Keep& keep, const std::function<void()>& sign_of_life) const {
    Pruned out{keep.whole, {}};
    Pruning pruning(keep, out, sign_of_life);
    std::vector<fs::path> counted = all_complete();
    std::optional<fs::path> best;
    for (;;) {
        best = keep.best ? best_of(counted) : std::nullopt;
        const std::vector<fs::path> surplus = pruning.surplus(counted, best);
        if (surplus.empty()) break;
        if (const auto doubtful = pruning.doubtful(counted, best)) {
            if (!pruning.verify(*doubtful)) std::erase(counted, *doubtful);
            continue;
        }
        for (const fs::path& folder : surplus) {
            const fs::path partial =
                partial_folder(step_of(folder));  // if killed while removing, the rest must not look like a checkpoint
            move_folder(folder, partial);
            remove_folder(partial);
            out.whole.erase(step_of(folder));
        }
        break;
    }
    if (best && !pruning.left_doubts()) lead_to(*best);
    remove_dangling_link();
    return out;
}

fs::path CheckpointStore::set_damaged_aside(const fs::path& folder) const {
    fs::path aside = new_folder(folder_ / ("damaged_" + folder.filename().string()));
    move_folder(folder, aside);
    return aside;
}

std::optional<fs::path> CheckpointStore::set_aside_after(std::int64_t step, std::string_view reason) const {
    auto later = all();
    std::erase_if(later, [&](const auto& one) { return one.first <= step; });
    if (later.empty()) return std::nullopt;
    fs::path aside = new_folder(folder_ / concat(reason, "_after_", step_folder_name(step).substr(5)));
    for (const auto& [number, folder] : later) move_folder(folder, aside / folder.filename());
    remove_dangling_link();
    flush_folder(aside);
    flush_folder(folder_);
    return aside;
}

}  // namespace bertpretrain
