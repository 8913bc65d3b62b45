#include "plan/facts.h"

#include "core/environment.h"
#include "core/threads.h"
#include "kernels/matmul_libraries.h"
#include "operations/device.h"
#include "shards/vocabulary_match.h"

namespace bertpretrain {

MachineFacts look_at_machine() {
    MachineFacts facts;
    facts.cores = available_cores();
    facts.gpus = usable_gpus();
    facts.has_unusable_gpu = facts.gpus == 0 && has_gpu_driver() && !is_set_in_environment("CUDA_VISIBLE_DEVICES");
    facts.has_bf16_matmul = has_bf16_matmul();
    facts.may_others_be_faster = may_others_be_faster();
    return facts;
}

DataFacts look_at_data(const DataConfig& data, bool evaluates) {
    const std::filesystem::path shards = data.training_shards;
    DataFacts facts;
    facts.is_there = std::filesystem::is_directory(shards);
    if (facts.is_there) facts.manifest = read_manifest(shards);
    const std::filesystem::path beside = shards / "vocab.txt";
    if (data.vocabulary) facts.vocabulary_file = *data.vocabulary;
    else if (std::filesystem::exists(beside)) facts.vocabulary_file = beside;
    else return facts;
    const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(facts.vocabulary_file));
    if (facts.manifest) refuse_other_vocabulary(shards, *facts.manifest, facts.vocabulary_file, *vocabulary);
    if (evaluates && data.held_out_shards)
        if (const auto manifest = read_manifest(*data.held_out_shards))
            refuse_other_vocabulary(*data.held_out_shards, *manifest, facts.vocabulary_file, *vocabulary);
    facts.vocabulary = vocabulary;
    return facts;
}

}  // namespace bertpretrain
