// bertpretrain evaluate CHECKPOINT... --shards DIR

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "rank_options.h"

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/find_weights.h"
#include "core/error.h"
#include "core/log.h"
#include "core/strings.h"
#include "core/table.h"
#include "inference/evaluate.h"
#include "inference/load_model.h"
#include "parallel/together.h"
#include "plan/device_choice.h"
#include "shards/manifest.h"
#include "shards/vocabulary_match.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct EvaluateArguments {
    std::vector<std::string> checkpoints;
    std::string shards, precision = "fp32", device = "auto", kind = "held_out", baseline;
    std::int64_t micro_batch_size = 32, max_sequences = 0, local_ranks = 0;
    double tolerance = 0;
    bool all = false, json = false;
};

/// One measured checkpoint.
struct Measured {
    std::string name;
    EvaluationRecord record;
};

nlohmann::ordered_json as_json(const Measured& measured) {
    const EvaluationRecord& record = measured.record;
    nlohmann::ordered_json json{{"step", record.step},
                                {"mlm_loss", record.mlm_loss},
                                {"mlm_accuracy", record.mlm_accuracy},
                                {"perplexity", record.perplexity}};
    if (record.next_sentence) json.update({{"nsp_loss", record.nsp_loss}, {"nsp_accuracy", record.nsp_accuracy}});
    json["sequences"] = record.sequences;
    return json;
}

std::string one_as_table(const EvaluationRecord& record) {
    Table table({"measure", "value"});
    table.add({"step", std::to_string(record.step)});
    table.add({"mlm_loss", fixed(record.mlm_loss, 4)});
    table.add({"mlm_accuracy", fixed(record.mlm_accuracy, 4)});
    table.add({"perplexity", fixed(record.perplexity, 2)});
    if (record.next_sentence) {
        table.add({"nsp_loss", fixed(record.nsp_loss, 4)});
        table.add({"nsp_accuracy", fixed(record.nsp_accuracy, 4)});
    }
    table.add({"sequences", with_thousands(record.sequences)});
    return table.text();
}

std::string curve_as_table(const std::vector<Measured>& curve) {
    Table table({"checkpoint", "step", "mlm_loss", "mlm_accuracy", "perplexity", "nsp_loss", "nsp_accuracy", "sequences"});
    for (const auto& [name, record] : curve)
        table.add({name, std::to_string(record.step), fixed(record.mlm_loss, 4), fixed(record.mlm_accuracy, 4),
                   fixed(record.perplexity, 2), record.next_sentence ? fixed(record.nsp_loss, 4) : "-",
                   record.next_sentence ? fixed(record.nsp_accuracy, 4) : "-", with_thousands(record.sequences)});
    return table.text();
}

/// Returns the checkpoints to measure, as rank 0 finds them. With --all, each run is replaced by all of its checkpoints.
std::vector<std::string> chosen_checkpoints(const EvaluateArguments& arguments, World& world) {
    if (!arguments.all) return arguments.checkpoints;
    nlohmann::json chosen = nlohmann::json::array();
    together(world, [&] {
        if (world.rank() != 0) return;
        for (const std::string& run : arguments.checkpoints) {
            const auto found = CheckpointStore(fs::path(run) / "checkpoints").all_complete();
            if (found.empty())
                throw CheckpointError(concat(run, ": --all: there is no complete checkpoint in its folder \"checkpoints\""));
            for (const fs::path& folder : found) chosen.push_back(folder.string());
        }
    });
    return nlohmann::json::parse(world.text_of_first(chosen.dump()));
}

/// Measures models on the same shards. Reopens the shards only for a model of another shape.
class Measuring {
public:
    Measuring(const EvaluateArguments& arguments, World& world, at::Device device)
        : arguments_(arguments), world_(world), device_(device) {}

    EvaluationRecord measure(const std::string& checkpoint) {
        LoadedModel model;
        const fs::path found = found_by_first(world_, checkpoint);
        together(world_, [&] {
            model = load_model(found, arguments_.precision == "bf16" ? at::kBFloat16 : at::kFloat, device_);
            require_parameters(model, "", "an evaluation");
            if (model.sequence_length == 0) model.sequence_length = length_of_shards(model);
            if (!model.vocabulary.empty()) refuse_other_vocabulary(arguments_.shards, model.vocabulary);
            open_shards({model.sequence_length, model.config.max_position_embeddings, model.config.vocab_size,
                         model.config.next_sentence, model.document_end});
        });
        return evaluate(*model.bert, *batches_, world_, model.step);
    }

private:
    /// The sequence length for a model that does not record its own.
    std::int64_t length_of_shards(const LoadedModel& model) const {
        const auto manifest = read_manifest(arguments_.shards);
        return manifest ? manifest->settings.sequence_length : model.config.max_position_embeddings;
    }

    void open_shards(const RowFormat& format) {
        if (batches_ && settings_.format == format) return;
        settings_.format = format;
        settings_.micro_batch_size = arguments_.micro_batch_size;
        settings_.max_sequences = arguments_.max_sequences;
        settings_.rank = world_.rank();
        settings_.world_size = world_.size();
        settings_.device = device_;
        const ShardKind kind = arguments_.kind == "training" ? ShardKind::training : ShardKind::held_out;
        batches_ = std::make_unique<EvaluationBatches>(find_shards(arguments_.shards, kind), settings_);
    }

    const EvaluateArguments& arguments_;
    World& world_;
    at::Device device_;
    EvaluationSettings settings_;
    std::unique_ptr<EvaluationBatches> batches_;
};

/// @throws NumbersError if a checkpoint is worse than the baseline by more than the tolerance
void refuse_regression(const EvaluateArguments& arguments, const std::vector<Measured>& curve, const EvaluationRecord& baseline) {
    const double most = baseline.mlm_loss * (1 + arguments.tolerance);
    for (const auto& [name, record] : curve)
        if (!(record.mlm_loss <= most))
            throw NumbersError(concat(name, ": held-out mlm_loss ", fixed(record.mlm_loss, 4), " is worse than that of ",
                                      arguments.baseline, ", ", fixed(baseline.mlm_loss, 4), ", by more than ",
                                      fixed(100 * arguments.tolerance, 2), " %"));
}

int run(const EvaluateArguments& arguments) {
    const Launch launch = read_launch();
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch)) return *code;
    const at::Device device = device_named(arguments.device, launch.local_rank);
    const std::unique_ptr<World> world = patient_world(launch);
    const std::vector<std::string> checkpoints = chosen_checkpoints(arguments, *world);
    const bool leads = world->rank() == 0;
    const bool alone = checkpoints.size() == 1 && !arguments.all;
    Measuring measuring(arguments, *world, device);
    std::optional<EvaluationRecord> baseline;
    if (!arguments.baseline.empty()) baseline = measuring.measure(arguments.baseline);
    std::vector<Measured> curve;
    for (const std::string& checkpoint : checkpoints) {
        curve.push_back({checkpoint, measuring.measure(checkpoint)});
        if (!leads) continue;
        nlohmann::ordered_json line = as_json(curve.back());
        if (!alone) line["checkpoint"] = checkpoint;
        if (arguments.json) std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
        else if (!alone) log_info(concat(checkpoint, ": mlm_loss ", fixed(curve.back().record.mlm_loss, 4)));
    }
    if (leads && !arguments.json) std::cout << (alone ? one_as_table(curve.front().record) : curve_as_table(curve)) << std::flush;
    if (baseline) refuse_regression(arguments, curve, *baseline);
    return 0;
}

}  // namespace

void add_evaluate_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<EvaluateArguments>();
    CLI::App* command = app.add_subcommand("evaluate", "Measures the loss and accuracy of checkpoints on held-out shards");
    command->add_option("checkpoints", arguments->checkpoints, "Checkpoint folders, or run folders (their newest checkpoints)")
        ->required();
    command->add_flag("--all", arguments->all, "Measure all complete checkpoints of the runs");
    command->add_option("--shards", arguments->shards, "The folder of shards")->required();
    command->add_option("--kind", arguments->kind, "The shards of the folder to use")
        ->check(CLI::IsMember({"held_out", "training"}))
        ->capture_default_str();
    add_device_options(*command, arguments->precision, arguments->device);
    command->add_option("--micro-batch-size", arguments->micro_batch_size, "Sequences per forward pass")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--max-sequences", arguments->max_sequences, "Sequences to evaluate, spread over the shards. 0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_option("--baseline", arguments->baseline,
                        "A checkpoint or run to compare with: exit code 6 if another checkpoint's mlm_loss is higher");
    command
        ->add_option("--tolerance", arguments->tolerance,
                     "How much higher mlm_loss may be, as a share of the baseline's: 0.01 is 1 %")
        ->check(CLI::Range(0.0, 1.0))
        ->needs("--baseline");
    add_local_ranks_option(*command, arguments->local_ranks);
    command->add_flag("--json", arguments->json, "Print a JSON object per checkpoint instead of a table");
    command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace bertpretrain
