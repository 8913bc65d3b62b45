// bertpretrain embed MODEL [TEXT] --output FILE.npy|FILE.h5

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "rank_options.h"

#include "checkpoint/find_weights.h"
#include "core/displayable.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/strings.h"
#include "inference/embed.h"
#include "inference/load_model.h"
#include "operations/device.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct EmbedArguments {
    std::string model, text = "-", output, vectors = "mean", precision = "fp32", device = "auto";
    std::int64_t max_length = 0, batch_tokens = 4096, local_ranks = 0;
    bool cased = false, normalize = false, json = false;
};

/// Standard input as a file beside the output, since what is read once cannot be gone on with.
fs::path text_file(const EmbedArguments& arguments, World& world) {
    if (arguments.text != "-") return arguments.text;
    const fs::path spooled = arguments.output + ".partial/text";
    together(world, [&] {
        if (world.rank() == 0)
            write_atomically(spooled, [](std::ostream& out) {
                if (std::cin.peek() != EOF) out << std::cin.rdbuf();
            });
    });
    return spooled;
}

WordPiece tokenizer_of(const LoadedModel& model, bool cased) {
    if (model.vocabulary.empty())
        throw ConfigError(concat(model.folder.string(), ": has no vocab.txt, and text cannot be turned into ids without"));
    auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(model.vocabulary));
    if (vocabulary->size() > model.config.vocab_size)
        throw ConfigError(concat(model.vocabulary.string(), ": has ", vocabulary->size(), " tokens, the model knows ",
                                 model.config.vocab_size));
    return {std::move(vocabulary), cased || model.cased ? Casing::cased : Casing::uncased};
}

TextEncoderSettings encoder_settings(const EmbedArguments& arguments, const LoadedModel& model) {
    const std::int64_t longest = model.config.max_position_embeddings;
    if (arguments.max_length > longest)
        throw ConfigError(concat("--max-length ", arguments.max_length, ": the model knows ", longest, " positions"));
    return {pooling_named(arguments.vectors), arguments.max_length == 0 ? longest : arguments.max_length, arguments.batch_tokens,
            arguments.normalize, static_cast<std::size_t>(at::get_num_threads())};
}

void report(const EmbedArguments& arguments, const EmbedCounts& counts, const TextEncoderSettings& settings,
            std::int64_t hidden) {
    if (counts.truncated_lines > 0)
        log_warning(concat(with_thousands(counts.truncated_lines), " of ", with_thousands(counts.lines),
                           " lines are longer than ", settings.max_length, " tokens; the rest of them was cut off"));
    const double rate = static_cast<double>(counts.tokens) / counts.seconds;
    if (arguments.json) {
        const nlohmann::ordered_json out = {{"output", arguments.output}, {"lines", counts.lines},
                                            {"columns", hidden},          {"truncated_lines", counts.truncated_lines},
                                            {"seconds", counts.seconds},  {"tokens", counts.tokens},
                                            {"tokens_per_second", rate}};
        std::cout << out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
        return;
    }
    std::cout << displayable(arguments.output) << ": " << with_thousands(counts.lines) << " x " << hidden << " ("
              << arguments.vectors << "), " << duration_text(counts.seconds) << ", "
              << with_thousands(static_cast<std::int64_t>(rate)) << " tokens/s" << std::endl;
}

int run(const EmbedArguments& arguments) {
    vector_format_of(arguments.output);
    const Launch launch = read_launch();
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch)) return *code;
    const at::Device device = device_named(arguments.device, launch.local_rank);
    const std::unique_ptr<World> world = patient_world(launch);
    const bool leads = world->rank() == 0;
    std::unique_ptr<EmbeddingLock> lock;
    LoadedModel model;
    const fs::path checkpoint = found_by_first(*world, arguments.model);
    together(*world, [&] {
        model = load_model(checkpoint, arguments.precision == "bf16" ? at::kBFloat16 : at::kFloat, device);
        if (arguments.vectors == "pooled") require_parameters(model, "bert.pooler.", "--vectors pooled");
        if (fs::exists(arguments.output))
            throw ConfigError(concat("--output ", arguments.output, ": exists\n  do: remove it, or give another name"));
        if (leads) lock = std::make_unique<EmbeddingLock>(arguments.output);
    });
    const TextEncoderSettings settings = encoder_settings(arguments, model);
    const WordPiece tokenizer = tokenizer_of(model, arguments.cased);
    const fs::path file = text_file(arguments, *world);
    TextSurvey text;
    EmbeddingRequest request;
    together(*world, [&] {
        text = survey_text(file);
        if (arguments.text == "-") text.file = file;
        request = {arguments.output,
                   {text.lines, model.config.hidden_size},
                   text.parts.size(),
                   arguments.vectors,
                   embedding_identity(text, *model.parameters,
                                      {{"vectors", arguments.vectors},
                                       {"precision", arguments.precision},
                                       {"max_length", settings.max_length},
                                       {"normalize", arguments.normalize},
                                       {"cased", arguments.cased || model.cased}})};
        if (leads && EmbeddingStore::prepare(request)) log_info(concat("going on with ", arguments.output, ".partial"));
    });
    std::unique_ptr<EmbeddingStore> store;
    together(*world, [&] { store = std::make_unique<EmbeddingStore>(request); });
    model.bert->pack_weights();
    const TextEncoder encoder(*model.bert, tokenizer, device, settings);
    const EmbedCounts counts = embed(text, encoder, *store, *world);
    if (leads) report(arguments, counts, settings, model.config.hidden_size);
    return 0;
}

}  // namespace

void add_embed_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<EmbedArguments>();
    CLI::App* command = app.add_subcommand("embed", "Turns each line of a text into a vector");
    command->add_option("model", arguments->model, "A checkpoint, or a run: then its newest")->required();
    command->add_option("text", arguments->text, "A text on each line; -: standard input")->capture_default_str();
    command->add_option("--output", arguments->output, "New file of fp32 rows, one per line: .npy, .h5")->required();
    command
        ->add_option("--vectors", arguments->vectors, "mean: of all tokens; cls: the first token's; pooled: the pooler's output")
        ->check(CLI::IsMember({"mean", "cls", "pooled"}))
        ->capture_default_str();
    command->add_flag("--normalize", arguments->normalize, "Vectors of length 1");
    command->add_option("--precision", arguments->precision, "Of products")
        ->check(CLI::IsMember({"fp32", "bf16"}))
        ->capture_default_str();
    command->add_option("--max-length", arguments->max_length, "Tokens of a text at most; 0: what the model takes")
        ->check(CLI::IsMember({"0"}) | CLI::Range(std::int64_t{3}, std::int64_t{1} << 20))
        ->capture_default_str();
    command->add_option("--batch-tokens", arguments->batch_tokens, "Of one forward pass")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--device", arguments->device, "Where it runs")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    command->add_flag("--cased", arguments->cased, "Words keep case and accents, where the model does not say so");
    add_local_ranks_option(*command, arguments->local_ranks);
    command->add_flag("--json", arguments->json, "One JSON object when done");
    command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace bertpretrain
