#include "plan/facts.h"

#include "core/environment.h"
#include "core/error.h"
#include "core/threads/threads.h"
#include "kernels/matmul_libraries.h"
#include "operations/device.h"
#include "plan/shared_text.h"
#include "shards/check/vocabulary_match.h"
#include "shards/remote_folder.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

/// @throws DataError naming two sources whose rows cannot be mixed
void refuse_different_sources(const std::vector<FolderManifest>& manifests) {
    for (const FolderManifest& other : manifests) {
        const FolderManifest& first = manifests.front();
        const auto require_same = [&](const char* what, const auto& of_first, const auto& of_other) {
            if (of_first == of_other) return;
            throw DataError(concat("data.training_shards lists sources that cannot be mixed, because their ", what, " differs: ",
                                   of_first, " in ", first.folder.string(), ", ", of_other, " in ", other.folder.string(),
                                   "\n  do: make the shards of all sources with the same vocabulary and the same "
                                   "--sequence-length"));
        };
        require_same("sequence length", first.manifest.settings.sequence_length, other.manifest.settings.sequence_length);
        require_same("vocabulary (its checksum)", first.manifest.vocabulary.crc32, other.manifest.vocabulary.crc32);
        require_same("casing", first.manifest.settings.casing, other.manifest.settings.casing);
    }
}

}  // namespace

MachineFacts look_at_machine() {
    MachineFacts facts;
    facts.cores = available_cores();
    facts.gpus = usable_gpus();
    facts.has_unusable_gpu = facts.gpus == 0 && has_gpu_driver() && !is_set_in_environment("CUDA_VISIBLE_DEVICES");
    facts.has_bf16_matmul = has_bf16_matmul();
    facts.default_matmul = default_matmul_library();
    facts.may_others_be_faster = may_others_be_faster();
    facts.nccl = nccl_environment();
    return facts;
}

DataFacts look_at_data(const DataConfig& data, bool evaluates) {
    DataFacts facts;
    facts.cache_folder = shard_cache_folder(data.cache_folder);
    facts.is_there = !data.training_shards.paths.empty();
    std::vector<FolderManifest> manifests;
    for (const WeightedPath& source : data.training_shards.paths) {
        const std::filesystem::path folder = local_shard_folder(source.path, facts.cache_folder);
        const bool is_there = std::filesystem::is_directory(folder);
        facts.is_there = facts.is_there && is_there;
        if (!is_there) continue;
        require_complete(folder);
        std::filesystem::path vocabulary = tokenizer_in_folder(folder);
        if (auto manifest = read_manifest(folder)) {
            if (const auto named = folder / manifest->vocabulary.file; std::filesystem::exists(named)) vocabulary = named;
            manifests.push_back({folder, std::move(*manifest)});
        }
        if (facts.vocabulary_file.empty()) facts.vocabulary_file = vocabulary;
    }
    refuse_different_sources(manifests);
    if (!manifests.empty()) facts.manifest = manifests.front().manifest;
    if (manifests.size() == data.training_shards.paths.size())
        for (const FolderManifest& of : manifests) facts.training_rows += shard_totals(of.manifest, ShardKind::training).rows;
    std::optional<FolderManifest> held_out;
    if (evaluates && data.held_out_shards)
        if (auto manifest = read_manifest(local_shard_folder(*data.held_out_shards, facts.cache_folder)))
            held_out = {*data.held_out_shards, std::move(*manifest)};
    if (held_out) facts.warnings = warn_of_shared_text(manifests, {*held_out});
    else if (evaluates && !data.held_out_shards) facts.warnings = warn_of_shared_text(manifests, manifests);
    if (data.vocabulary) facts.vocabulary_file = *data.vocabulary;
    if (facts.vocabulary_file.empty()) return facts;
    const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(facts.vocabulary_file));
    vocabulary->require_specials();
    for (const auto& [folder, manifest] : manifests)
        refuse_other_vocabulary(folder, manifest, facts.vocabulary_file, *vocabulary);
    if (held_out) refuse_other_vocabulary(held_out->folder, held_out->manifest, facts.vocabulary_file, *vocabulary);
    facts.vocabulary = vocabulary;
    return facts;
}

}  // namespace bertpretrain
