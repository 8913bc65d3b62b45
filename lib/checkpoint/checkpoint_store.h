#pragma once
// The checkpoints of one run: RUN/checkpoints/step_00000200/, each whole or not there.

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

#include "archive/pt_writer.h"
#include "checkpoint/training_state.h"

namespace bertpretrain {

/// What one rank has written of a checkpoint; pack and unpack carry it through the store between ranks.
struct SaveReceipt {
    std::vector<WrittenPiece> model, optimizer;

    std::string pack() const;
    /// @throws CheckpointError when `packed` is no packed receipt
    static SaveReceipt unpack(std::string_view packed);
};

/// Saves and finds checkpoints. All members throw CheckpointError naming the file and the reason; a failed save leaves older
/// checkpoints untouched and removes what it had begun.
///
/// One process: save(state). Several: rank 0 begin(state); after it, every rank write(state) with its own pieces; when all
/// receipts are at rank 0, complete(state, receipts) there. If any rank fails: abandon(step) at rank 0.
/// `state` must agree between ranks in all but its pieces; progress, settings and vocabulary matter at rank 0 only.
class CheckpointStore {
public:
    /// @param folder  RUN/checkpoints; made by the first save
    explicit CheckpointStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

    const std::filesystem::path& folder() const { return folder_; }
    /// From now on the same checkpoints are found there: the run's folder has another name.
    void move_to(std::filesystem::path folder) { folder_ = std::move(folder); }

    /// Saves a state whose pieces are all here. @returns the checkpoint's folder
    std::filesystem::path save(const TrainingState& state) const;

    /// Removes what killed saves left, and puts back what one had moved out of its way.
    void remove_unfinished() const;

    /// remove_unfinished(), then makes the folder step_N.partial and the empty files.
    void begin(const TrainingState& state) const;
    /// Waits until this host sees what begin() has made on another one, `timeout` at most.
    void await_begun(std::int64_t step, std::chrono::milliseconds timeout) const noexcept;
    /// Writes this rank's pieces in place and flushes them to the disk.
    /// @param sign_of_life called after every few megabytes that are written, and after each flush; may be empty
    SaveReceipt write(const TrainingState& state, const std::function<void()>& sign_of_life = {}) const;
    /// Writes all else, flushes it, and puts the folder in place. @returns the checkpoint's folder
    /// @param sign_of_life as in write()
    std::filesystem::path complete(const TrainingState& state, const std::vector<SaveReceipt>& receipts,
                                   const std::function<void()>& sign_of_life = {}) const;
    /// Removes a save that was begun and will not be completed; never throws.
    void abandon(std::int64_t step) const noexcept;

    /// The steps and folders of all checkpoints, whole or damaged, oldest first: a folder only has such a name once it was
    /// complete.
    std::vector<std::pair<std::int64_t, std::filesystem::path>> all() const;
    /// Folders of complete checkpoints, oldest first: those whose COMPLETE.json fits the sizes of their files (the
    /// contents are checked by CheckpointReader).
    std::vector<std::filesystem::path> all_complete() const;
    std::optional<std::filesystem::path> newest_complete() const;
    /// @throws CheckpointError listing the steps there are
    std::filesystem::path complete_at(std::int64_t step) const;
    /// The complete one with the lowest held-out loss, the older of equals; nothing where none was saved at an evaluated step.
    std::optional<std::filesystem::path> best_complete() const;

    /// What prune() leaves.
    struct Keep {
        std::int64_t last = 1;              ///< so many of the newest whole ones; the newest one always
        std::int64_t every = 0;             ///< multiples of this; 0: none for that reason
        std::set<std::int64_t> steps = {};  ///< and these, which are not moved either
        bool best = false;                  ///< and the best whole one, to which the link "best" then leads
        std::set<std::int64_t> whole = {};  ///< known to be whole: written by this process, or verified by it
        bool verify = true;                 ///< reads others before they count; false: those do not count this time
    };
    struct Pruned {
        std::set<std::int64_t> whole;       ///< Keep::whole and those that were found to be whole
        std::vector<std::string> warnings;  ///< what is damaged, where it is now, and what could not be read
    };
    /// Deletes the other complete checkpoints. One is deleted only because others stay that are known to be whole. What would
    /// be such a reason is read before, and its checksums compared: a damaged checkpoint is moved to damaged_step_N, which no
    /// reader takes for a checkpoint. One that cannot be read stays and does not count.
    /// @param sign_of_life called for each part that is read, from any thread
    Pruned prune(const Keep& keep, const std::function<void()>& sign_of_life = {}) const;

    /// Moves the checkpoints of later steps, whole or damaged, into a new folder abandoned_after_N, where only people look: a run
    /// that goes another way from `step` would else meet them again. Killed midway, it has moved some, and lost none.
    /// @returns that folder; nothing where there are no later ones
    std::optional<std::filesystem::path> set_aside_after(std::int64_t step) const;

    /// Where a save that is not complete lies.
    std::filesystem::path partial_folder(std::int64_t step) const;

private:
    static std::optional<std::filesystem::path> best_of(const std::vector<std::filesystem::path>& folders);
    void lead_to(const std::filesystem::path& best) const;
    void remove_dangling_link() const;

    std::filesystem::path folder_;
};

/// "step_00000200"
std::string step_folder_name(std::int64_t step);
/// The step of a folder so named; nothing for any other name.
std::optional<std::int64_t> step_of_folder_name(std::string_view name);

/// The checkpoint that a user's argument means: a step folder itself, or the newest complete one in it or in its
/// "checkpoints" folder. @throws CheckpointError saying what was looked for and where
std::filesystem::path resolve_checkpoint(const std::filesystem::path& argument);

}  // namespace bertpretrain
