#include "train/resume.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/log.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

/// The steps and folders of all checkpoints, whole or damaged: a folder only has such a name once it was complete.
std::vector<std::pair<std::int64_t, std::filesystem::path>> newest_first(const std::filesystem::path& store) {
    std::vector<std::pair<std::int64_t, std::filesystem::path>> folders;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(store, missing))
        if (const auto step = step_of_folder_name(entry.path().filename().string())) folders.emplace_back(*step, entry.path());
    std::sort(folders.rbegin(), folders.rend());
    return folders;
}

}  // namespace

ResumeRequest ResumeRequest::parse(const std::string& text) {
    if (text == "auto") return {Kind::automatic, 0};
    if (text == "never") return {Kind::never, 0};
    ResumeRequest request{Kind::step, 0};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), request.step);
    if (failure != std::errc() || end != text.data() + text.size() || request.step < 0)
        throw ConfigError(concat("--resume ", text, ": must be auto, never or the step of a checkpoint"));
    return request;
}

std::unique_ptr<CheckpointReader> choose_checkpoint(const CheckpointStore& store, const ResumeRequest& request) {
    if (request.kind == ResumeRequest::Kind::step) return std::make_unique<CheckpointReader>(store.complete_at(request.step));
    const auto folders = newest_first(store.folder());
    if (folders.empty()) return nullptr;
    if (request.kind == ResumeRequest::Kind::never)
        throw ConfigError(concat(store.folder().string(), ": holds checkpoints of an earlier run (newest ",
                                 folders.front().second.filename().string(),
                                 "); go on with --resume auto, or choose another --output"));
    for (const auto& [step, folder] : folders) {
        try {
            auto reader = std::make_unique<CheckpointReader>(folder);
            if (reader->step() != step) throw CheckpointError(concat(folder.string(), ": holds step ", reader->step()));
            return reader;
        } catch (const CheckpointError& error) {
            log_warning(concat(error.what(), "\n  this checkpoint is not used; trying the one before it"));
        }
    }
    throw CheckpointError(concat(store.folder().string(), ": all ", folders.size(),
                                 " checkpoints are damaged, as the warnings above say",
                                 "\n  do: bring an undamaged copy back, or train into another folder with --output"));
}

std::unique_ptr<CheckpointReader> choose_checkpoint(World& world, const CheckpointStore& store, const ResumeRequest& request) {
    std::unique_ptr<CheckpointReader> reader;
    together(world, [&] {
        if (world.rank() == 0) reader = choose_checkpoint(store, request);
    });
    const std::int64_t step = world.agree_on_largest(reader ? reader->step() : -1);
    together(world, [&] {
        if (world.rank() != 0 && step >= 0)
            reader = std::make_unique<CheckpointReader>(store.complete_at(step), CheckpointReader::Verify::sizes);
    });
    return reader;
}

std::int64_t global_batch_of(const ExperimentConfig& experiment, std::int64_t world_size, const CheckpointReader* reader) {
    const std::int64_t now = experiment.global_batch(world_size);
    if (reader == nullptr || experiment.batch.global_batch_size > 0) return now;
    const auto saved = read_config<ExperimentConfig>(reader->settings(), (reader->folder() / "settings.json").string());
    const auto of_one_rank = [](const BatchConfig& batch) { return batch.micro_batch_size * batch.gradient_accumulation_steps; };
    const bool as_before = of_one_rank(saved.batch) == of_one_rank(experiment.batch);
    return as_before ? reader->progress().at("global_batch_sequences").get<std::int64_t>() : now;
}

void refuse_changed_settings(const CheckpointReader& reader, const ExperimentConfig& experiment, std::int64_t global_batch,
                             const std::string& data_fingerprint) {
    const std::string file = (reader.folder() / "settings.json").string();
    const auto saved = read_config<ExperimentConfig>(reader.settings(), file);
    std::vector<std::string> problems;
    for (const Difference& difference : compare_configs(saved, experiment))
        if (!difference.may_change)
            problems.push_back(
                concat("  ", difference.path, ": ", difference.value_a, " in the checkpoint, ", difference.value_b, " now"));
    const auto saved_batch = reader.progress().at("global_batch_sequences").get<std::int64_t>();
    if (saved_batch != global_batch)
        problems.push_back(
            concat("  the global batch (batch.global_batch_size, or micro_batch_size x gradient_accumulation_steps x ",
                   "ranks): ", saved_batch, " in the checkpoint, ", global_batch, " now"));
    if (const auto fingerprint = reader.progress().at("data_fingerprint").get<std::string>(); fingerprint != data_fingerprint)
        problems.push_back(concat("  the training data's fingerprint: ", fingerprint, " in the checkpoint, ", data_fingerprint,
                                  " now (other shards, another order or another seed)"));
    if (problems.empty()) return;
    std::string message = concat(reader.folder().string(), ": this run cannot go on with changed settings:\n");
    for (const std::string& problem : problems) message += problem + "\n";
    throw ConfigError(message + "  do: set them back, or train into another folder with --output");
}

}  // namespace bertpretrain
