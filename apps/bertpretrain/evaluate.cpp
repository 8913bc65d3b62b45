// bertpretrain evaluate CHECKPOINT --shards DIR

#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "commands.h"

#include "core/strings.h"
#include "core/table.h"
#include "inference/evaluate.h"
#include "inference/load_model.h"
#include "shards/manifest.h"
#include "shards/vocabulary_match.h"
#include "train/make_trainer.h"

namespace bertpretrain {
namespace {

struct EvaluateArguments {
    std::string checkpoint, shards, precision = "fp32", device = "auto", kind = "held_out";
    std::int64_t micro_batch_size = 32, max_sequences = 0;
    bool json = false;
};

void print(const EvaluationRecord& record, bool as_json) {
    if (as_json) {
        const nlohmann::ordered_json out = {{"step", record.step},
                                            {"mlm_loss", record.mlm_loss},
                                            {"mlm_accuracy", record.mlm_accuracy},
                                            {"perplexity", record.perplexity},
                                            {"nsp_loss", record.nsp_loss},
                                            {"nsp_accuracy", record.nsp_accuracy},
                                            {"sequences", record.sequences}};
        std::cout << out.dump() << std::endl;
        return;
    }
    Table table({"measure", "value"});
    table.add({"step", std::to_string(record.step)});
    table.add({"mlm_loss", fixed(record.mlm_loss, 4)});
    table.add({"mlm_accuracy", fixed(record.mlm_accuracy, 4)});
    table.add({"perplexity", fixed(record.perplexity, 2)});
    table.add({"nsp_loss", fixed(record.nsp_loss, 4)});
    table.add({"nsp_accuracy", fixed(record.nsp_accuracy, 4)});
    table.add({"sequences", with_thousands(record.sequences)});
    std::cout << table.text() << std::flush;
}

void run(const EvaluateArguments& arguments) {
    const at::Device device = device_named(arguments.device);
    const auto files = find_shards(arguments.shards, arguments.kind == "training" ? ShardKind::training : ShardKind::held_out);
    const LoadedModel model =
        load_model(arguments.checkpoint, arguments.precision == "bf16" ? at::kBFloat16 : at::kFloat, device);
    EvaluationSettings settings;
    settings.format = {model.sequence_length, model.config.max_position_embeddings, model.config.vocab_size};
    settings.micro_batch_size = arguments.micro_batch_size;
    settings.max_sequences = arguments.max_sequences;
    settings.device = device;
    if (const auto vocabulary = model.folder / "vocab.txt"; std::filesystem::exists(vocabulary))
        refuse_other_vocabulary(arguments.shards, vocabulary);
    EvaluationBatches batches(files, settings);
    SingleProcess world;
    print(evaluate(*model.bert, batches, world, model.step), arguments.json);
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
    const auto arguments = std::make_shared<EvaluateArguments>();
    CLI::App* command = app.add_subcommand("evaluate", "Measures a checkpoint on shards that it was not trained on");
    command->add_option("checkpoint", arguments->checkpoint, "A step's folder, or a run: then its newest checkpoint")->required();
    command->add_option("--shards", arguments->shards, "Folder of shards")->required();
    command->add_option("--kind", arguments->kind, "Which shards of the folder")
        ->check(CLI::IsMember({"held_out", "training"}))
        ->capture_default_str();
    command->add_option("--precision", arguments->precision, "Of products")
        ->check(CLI::IsMember({"fp32", "bf16"}))
        ->capture_default_str();
    command->add_option("--device", arguments->device, "Where it runs")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    command->add_option("--micro-batch-size", arguments->micro_batch_size, "Sequences of one pass")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--max-sequences", arguments->max_sequences, "0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_flag("--json", arguments->json, "One JSON object instead of a table");
    command->callback([arguments] { run(*arguments); });
}

}  // namespace bertpretrain
