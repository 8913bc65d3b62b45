#include "train/audit/run_lineage.h"

#include <utility>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/find_weights.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/program_version.h"
#include "shards/remote_folder.h"

namespace bertpretrain {
namespace fs = std::filesystem;

RunLineage::RunLineage(const RunPlan& plan, SessionLineage session, const std::optional<fs::path>& predecessor) {
    const std::int64_t begin = session.begin;
    if (predecessor) take_over(*predecessor, begin);
    else if (plan.settings.initialization.init_from) start_from(*plan.settings.initialization.init_from);
    lineage_.sessions.push_back(std::move(session));
    if (!plan.data.vocabulary.empty()) lineage_.vocabulary = digest_of_file(plan.data.vocabulary);
    const auto add = [&](const std::string& use, const fs::path& folder, ShardKind kind) {
        const fs::path& cache = plan.data.cache_folder;
        lineage_.data.push_back(
            lineage_of_data(use, local_shard_folder(folder, cache), find_shards_anywhere(folder, kind, cache)));
        lineage_.data.back().folder = folder.string();
    };
    for (const fs::path& folder : plan.data.training_shards) add("training", folder, ShardKind::training);
    if (plan.settings.evaluation.every_steps == 0) return;
    for (const fs::path& folder : plan.data.held_out_shards) add("held_out", folder, ShardKind::held_out);
}

/// A checkpoint of this program is named by its lineage.json, which names its files.
void RunLineage::start_from(const std::string& weights) {
    const FoundWeights found = find_weights(weights);
    if (found.checkpoint && exists_here(*found.checkpoint / lineage_file))
        lineage_.started_from.push_back(digest_of_file(*found.checkpoint / lineage_file));
    else not_hashed_ = found.files;
}

/// Takes the history from the newest checkpoint that has one: a process that was killed right after a save left none in the last.
void RunLineage::take_over(const fs::path& predecessor, std::int64_t step) {
    std::vector<LineageLink> without;
    auto older = CheckpointStore(predecessor.parent_path()).all();
    std::erase_if(older, [&](const auto& one) { return one.first >= step; });
    older.emplace_back(step, predecessor);
    for (auto one = older.rbegin(); one != older.rend(); ++one) {
        const fs::path file = one->second / lineage_file;
        LineageLink& link = without.emplace_back(one->first, "");
        if (exists_here(file)) try {
                Lineage before = read_lineage(file);
                link.sha256 = digest_of_file(file).sha256;
                lineage_.started_from = std::move(before.started_from);
                lineage_.sessions = std::move(before.sessions);
                lineage_.predecessors = std::move(before.predecessors);
                break;
            } catch (const DataError& error) {
                log_warning(concat(error.what(), "\n  the next checkpoints name this one without a digest"));
            }
    }
    lineage_.predecessors.insert(lineage_.predecessors.end(), without.rbegin(), without.rend());
}

void RunLineage::record(const fs::path& checkpoint, std::int64_t step, const std::function<void()>& sign_of_life) {
    LineageLink link{step, ""};
    try {
        for (const fs::path& file : std::exchange(not_hashed_, {}))
            lineage_.started_from.push_back(exists_here(file) ? digest_of_file(file, "", sign_of_life)
                                                              : FileDigest{file.string(), 0, "", {}});
        lineage_.step = step;
        std::erase_if(lineage_.predecessors, [&](const LineageLink& one) { return one.step >= step; });  // it replaces that one
        lineage_.files = digests_of_checkpoint(checkpoint, sign_of_life);
        const std::string text = lineage_text(lineage_);
        write_atomically(checkpoint / lineage_file, text);
        link.sha256 = hexadecimal(sha256(text));
    } catch (...) {
        lineage_.predecessors.push_back(std::move(link));
        throw;
    }
    lineage_.predecessors.push_back(std::move(link));
}

SessionLineage session_lineage(std::int64_t begin, std::int64_t ranks, const std::string& settings_sha256,
                               const std::string& computed_by) {
    const ProgramVersion& program = program_version();
    return {begin,           ranks,           settings_sha256, computed_by,
            program.program, program.version, program.commit,  {program.libraries.begin(), program.libraries.end()}};
}

}  // namespace bertpretrain
