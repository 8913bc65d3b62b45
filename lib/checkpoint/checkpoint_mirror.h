#pragma once
// Copies of a run's checkpoints in an object store, in URL/step_00000200/, listed in URL/mirror.json.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/mirror_index.h"
#include "storage/object_store.h"

namespace bertpretrain {

/// One process writes a mirror; that another has written it is noticed at the next write. Members throw CheckpointError for what
/// is damaged, ConfigError where access is refused, and DistributedError where the store cannot be reached or `stop` is
/// requested. Not thread-safe.
class CheckpointMirror {
public:
    /// Requests are repeated for so long without progress before a transfer fails.
    static constexpr double give_up_seconds = 120;
    /// Uploads or downloads of a file whose SHA-256 is wrong.
    static constexpr int most_attempts = 3;

    explicit CheckpointMirror(ObjectUrl url, std::shared_ptr<AwsCredentialSource> credentials = AwsCredentialSource::of_process(),
                              StorageSettings settings = {.give_up_seconds = give_up_seconds});

    /// Reads mirror.json; an address without one is an empty mirror.
    void open(const std::stop_token& stop = {});
    /// Compares the history of the checkpoints in a folder, as their lineage.json tells it, with that of the mirror's.
    /// @throws ConfigError when they have no checkpoint in common, so that the mirror is another run's; an empty one is not
    void require_same_run(const std::filesystem::path& checkpoints);

    /// The id of the run that wrote it; empty if the mirror is empty or does not record it, and before open().
    std::string run_id() const { return index_ ? index_->run_id : ""; }
    /// The next write records this run's id.
    void set_run_id(std::string id) { own_run_id_ = std::move(id); }

    /// Returns the steps of the complete checkpoints that a run may resume from, ascending; none before open().
    std::vector<std::int64_t> steps() const;
    /// Returns a small file of such a checkpoint. @throws CheckpointError also when its SHA-256 is wrong
    std::string read(std::int64_t step, std::string_view file);
    /// Downloads a checkpoint into the store's folder and verifies the SHA-256 of each file; a download that was interrupted
    /// continues. A damaged checkpoint of the same step is moved aside. @returns the checkpoint's folder
    std::filesystem::path fetch(std::int64_t step, const CheckpointStore& store);

    struct Sent {
        std::uint64_t bytes = 0;  ///< 0: it was in the mirror
        std::string trouble;      ///< why an older checkpoint could not be deleted; empty: none
    };
    /// Uploads a complete checkpoint, reads all of it back to compare the SHA-256, and lists it. Then deletes those that are
    /// abandoned, those of later steps, from which the run did not continue, and all but the `keep` newest.
    /// Opens the mirror first if needed. @throws DataError when a local file cannot be read
    Sent send(std::int64_t step, const std::filesystem::path& folder, std::int64_t keep, const std::stop_token& stop = {});

    /// Marks the checkpoints of later steps: the run continues from `step` on another path.
    void abandon_after(std::int64_t step, const std::stop_token& stop = {});

    const ObjectUrl& url() const { return url_; }

private:
    using History = std::set<std::pair<std::int64_t, std::string>>;  ///< steps and digests of lineage.json
    History history();
    std::string where() const { return (url_ / mirror_file).text(); }
    void publish(MirrorIndex index, const std::stop_token& stop);
    void upload(const std::string& name, const std::filesystem::path& file, const FileDigest& expected,
                const std::stop_token& stop);
    std::string remove_unfinished(const std::stop_token& stop);
    void download(const MirroredCheckpoint& from, const FileDigest& file, const std::filesystem::path& to);

    ObjectUrl url_;
    ObjectStore store_;
    std::string own_run_id_;
    std::optional<MirrorIndex> index_;          ///< nullopt: not known
    std::optional<std::string> text_in_store_;  ///< of mirror.json; nullopt: it does not exist
};

}  // namespace bertpretrain
