#include "shards/check/shard_verification.h"

#include <map>
#include <mutex>

#include "core/files/files.h"
#include "core/files/random_access_file.h"
#include "core/output/phase_progress.h"
#include "core/threads/threads.h"
#include "shards/check/shard_probe.h"

namespace bertpretrain {
namespace {

/// The files that passed verification in this process.
class PassedFiles {
public:
    /// Returns the file's checksum if it passed. @param recorded the manifest's checksum that it was compared with
    std::optional<std::int64_t> find(const FileIdentity& file, std::optional<std::int64_t> recorded) {
        const std::lock_guard lock(mutex_);
        const auto found = passed_.find(file);
        return found != passed_.end() && found->second.recorded == recorded ? std::optional(found->second.crc32) : std::nullopt;
    }
    void add(const FileIdentity& file, std::optional<std::int64_t> recorded, std::int64_t crc32) {
        const std::lock_guard lock(mutex_);
        passed_[file] = {recorded, crc32};
    }

private:
    struct Passed {
        std::optional<std::int64_t> recorded;
        std::int64_t crc32 = 0;
    };
    std::mutex mutex_;
    std::map<FileIdentity, Passed> passed_;
};

PassedFiles passed_files;

void require_recorded_bytes(const std::filesystem::path& file, const FileIdentity& identity, const ShardRecord& record) {
    const char* const advice = "; the file was changed or damaged\n  do: copy or build this shard again";
    if (record.bytes > 0 && identity.bytes != static_cast<std::uint64_t>(record.bytes))
        throw DataError(concat(file.string(), ": has ", identity.bytes, " bytes, the manifest says ", record.bytes, advice));
    const std::int64_t crc = crc32_of_file(file);
    if (crc != record.crc32)
        throw DataError(concat(file.string(), ": its checksum is ", crc, ", the manifest says ", record.crc32, advice));
}

}  // namespace

std::vector<VerifiedShard> verify_shards(const std::vector<std::filesystem::path>& files, const std::optional<Manifest>& manifest,
                                         std::size_t threads) {
    std::vector<VerifiedShard> answers(files.size());
    std::vector<FileIdentity> identities(files.size());
    std::vector<std::uint8_t> must_be_tried(files.size());
    PhaseProgress progress("verifying checksums of shards", static_cast<double>(files.size()));
    for_each_index(files.size(), threads, [&](std::size_t i) {
        progress.advance();
        try {
            identities[i] = RandomAccessFile(files[i]).identity();
            const ShardRecord* record = manifest ? manifest->find(files[i].filename().string()) : nullptr;
            const auto recorded = record != nullptr ? std::optional(record->crc32) : std::nullopt;
            if (const auto crc32 = passed_files.find(identities[i], recorded)) {
                answers[i].crc32 = *crc32;
                return;
            }
            must_be_tried[i] = record == nullptr ? 1 : 0;
            if (record == nullptr) return;
            require_recorded_bytes(files[i], identities[i], *record);
            answers[i].crc32 = record->crc32;
            passed_files.add(identities[i], recorded, record->crc32);
        } catch (const DataError& error) { answers[i].problem = error; }
    });

    std::vector<std::filesystem::path> unknown;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (must_be_tried[i] == 0) continue;
        unknown.push_back(files[i]);
        places.push_back(i);
    }
    if (unknown.empty()) return answers;
    const std::vector<ProbedShard> probed = probe_shards(unknown, threads);
    for (std::size_t u = 0; u < unknown.size(); ++u) {
        answers[places[u]] = {probed[u].problem, probed[u].crc32};
        if (!probed[u].problem) passed_files.add(identities[places[u]], std::nullopt, probed[u].crc32);
    }
    return answers;
}

}  // namespace bertpretrain
