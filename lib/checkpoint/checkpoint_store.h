#pragma once
// The checkpoints of one run, in RUN/checkpoints/step_00000200/. Saves are atomic: a folder has this name only once complete.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/save_receipt.h"
#include "checkpoint/training_state.h"

namespace bertpretrain {

/// Saves and finds checkpoints. All members throw CheckpointError naming the file and the reason. A failed save leaves older
/// checkpoints untouched and removes its partial files.
///
/// One process calls save(state). With several ranks, rank 0 calls begin(state); then every rank calls write(state) with its own
/// pieces; when rank 0 has all receipts, it calls complete(state, receipts). If any rank fails, rank 0 calls abandon(step).
/// `state` must be the same on all ranks except for its pieces; progress, settings and vocabulary are used on rank 0 only.
class CheckpointStore {
public:
    /// @param folder  RUN/checkpoints; created by the first save
    explicit CheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

    const std::filesystem::path& folder() const { return folder_; }
    /// Sets the folder's new path after the run's folder has been renamed; moves no files.
    void move_to(std::filesystem::path folder) { folder_ = std::move(folder); }

    /// Saves a state whose pieces are all in this process. @returns the checkpoint's folder
    std::filesystem::path save(const TrainingState& state) const;

    /// Removes the remains of killed saves, and restores a checkpoint that such a save had moved aside.
    void remove_unfinished() const;

    /// Calls remove_unfinished(), then creates the folder step_N.partial and the empty files.
    /// @throws CheckpointError also when the disk does not have enough free space
    void begin(const TrainingState& state) const;
    /// Blocks until this host sees the files that begin() created on another host, at most `timeout`. Does not report which.
    void await_begun(std::int64_t step, std::chrono::milliseconds timeout) const noexcept;
    /// Writes this rank's pieces in place and fsyncs them.
    /// @param sign_of_life called after every few megabytes written and after each flush; may be empty
    SaveReceipt write(const TrainingState& state, const std::function<void()>& sign_of_life = {}) const;
    /// Writes everything else, fsyncs it, and renames the folder to its final name. @returns the checkpoint's folder
    /// @param sign_of_life as in write()
    std::filesystem::path complete(const TrainingState& state, const std::vector<SaveReceipt>& receipts,
                                   const std::function<void()>& sign_of_life = {}) const;
    /// Removes a save that was begun and will not be completed.
    void abandon(std::int64_t step) const noexcept;

    /// Returns the steps and folders of all checkpoints, intact or damaged, oldest first.
    std::vector<std::pair<std::int64_t, std::filesystem::path>> all() const;
    /// Returns the folders of complete checkpoints, oldest first: those whose files have the sizes in COMPLETE.json. Contents are
    /// not checked; CheckpointReader does that.
    std::vector<std::filesystem::path> all_complete() const;
    std::optional<std::filesystem::path> newest_complete() const;
    /// Returns the complete checkpoint of a step. @throws CheckpointError listing the steps that exist
    std::filesystem::path complete_at(std::int64_t step) const;
    /// Returns the complete checkpoint with the lowest held-out loss (the older of equals); nullopt where none was saved at an
    /// evaluated step.
    std::optional<std::filesystem::path> best_complete() const;

    /// Which checkpoints prune() keeps.
    struct Keep {
        std::int64_t last = 1;              ///< number of newest intact checkpoints; at least one is kept
        std::int64_t every = 0;             ///< also multiples of this step; 0: none
        std::set<std::int64_t> steps = {};  ///< also these, which are in use and not moved either
        bool best = false;                  ///< also the best intact one; the link "best" then points to it
        std::set<std::int64_t> whole = {};  ///< steps known to be intact: written or verified by this process
        bool verify = true;                 ///< verify the others before they count as kept; false: they do not count this time
        std::optional<std::int64_t> agreed = {};  ///< also the newest up to this step, the last that a cross check confirmed
    };
    struct Pruned {
        std::set<std::int64_t> whole;       ///< Keep::whole and the steps that were verified, without those deleted
        std::vector<std::string> warnings;  ///< what is damaged, where it is now, and what could not be read
    };
    /// Deletes the other complete checkpoints. A checkpoint is deleted only when the newest and best ones that replace it are
    /// known to be intact, so these are read and verified first. A damaged one is moved to damaged_step_N, which no reader treats
    /// as a checkpoint. One that cannot be read stays but does not count.
    /// @param sign_of_life called for each part that is read, from any thread
    Pruned prune(const Keep& keep, const std::function<void()>& sign_of_life = {}) const;

    /// Moves a damaged checkpoint to damaged_step_N, which no reader treats as a checkpoint. @returns that folder
    std::filesystem::path set_damaged_aside(const std::filesystem::path& folder) const;

    /// Moves the checkpoints of later steps, intact or damaged, into a new folder REASON_after_N, which the program does not
    /// read: a run that continues from `step` on a different path would otherwise find them. If the process is killed midway,
    /// only some have been moved and none is lost. @returns that folder; nullopt where there are no later checkpoints
    std::optional<std::filesystem::path> set_aside_after(std::int64_t step, std::string_view reason = "abandoned") const;

    /// The folder of a save that is not complete yet.
    std::filesystem::path partial_folder(std::int64_t step) const;

private:
    static std::optional<std::filesystem::path> best_of(const std::vector<std::filesystem::path>& folders);
    void lead_to(const std::filesystem::path& best) const;
    void remove_dangling_link() const;

    std::filesystem::path folder_;
};

/// "step_00000200"
std::string step_folder_name(std::int64_t step);
/// Returns the step of a folder with such a name; nullopt for any other name.
std::optional<std::int64_t> step_of_folder_name(std::string_view name);

/// Returns the newest complete checkpoint in a folder, in its "checkpoints" folder or, of a run with phases, in the folder of the
/// newest phase that has one; nullopt: there is none.
std::optional<std::filesystem::path> newest_of_run(const std::filesystem::path& folder);

/// Whether newest_of_run() has something to look at: complete or damaged checkpoints.
bool has_checkpoints(const std::filesystem::path& run);

/// Returns the checkpoint that a user's argument stands for: a step folder itself, or newest_of_run(). @throws CheckpointError
/// naming what was looked for and where, or what is wrong with a newer checkpoint that is not complete
std::filesystem::path resolve_checkpoint(const std::filesystem::path& argument);

}  // namespace bertpretrain
