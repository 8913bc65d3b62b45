// bertpretrain embed MODEL [TEXT...] --output FILE.npy|FILE.h5

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "rank_options.h"

#include "archive/checksum.h"
#include "checkpoint/find_weights.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "inference/embed.h"
#include "inference/embed_inputs.h"
#include "inference/loaded_model.h"
#include "inference/model_tokenizer.h"
#include "inference/sentence_folder.h"
#include "parallel/together.h"
#include "plan/device_choice.h"
#include "text/content/byte_source.h"
#include "text/reader/read_text.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct EmbedArguments {
    std::string model, inputs_from, output, vectors, precision = "fp32", device = "auto";
    std::vector<fs::path> texts;
    double max_unknown = 0.5;
    std::int64_t max_length = 0, batch_tokens = 4096, local_ranks = 0;
    bool cased = false, normalize = false, json = false;
    bool sets_normalize = false;   ///< --normalize or --no-normalize was given
    bool asks_for_fields = false;  ///< --text-field or --id-field was given
    InputSettings input;
};

/// Returns the inputs of the command line, then those of --inputs-from; standard input if there are none.
std::vector<fs::path> inputs_of(const EmbedArguments& arguments) {
    std::vector<fs::path> inputs = arguments.texts;
    if (!arguments.inputs_from.empty()) {
        TextLines lines(arguments.inputs_from);
        for (std::string line; lines.next(line);)
            if (!line.empty()) inputs.emplace_back(line);
        if (inputs.empty())
            throw ConfigError(concat("--inputs-from ", arguments.inputs_from, ": lists no input, expected one per line"));
    }
    if (inputs.empty()) inputs.emplace_back(standard_input);
    return inputs;
}

/// Returns what rank 0 finds as the input, on all ranks. Records' texts, standard input and what is compressed are copied into
/// OUTPUT.partial, so that an interrupted run can continue.
EmbedInput shared_input(const EmbedArguments& arguments, World& world) {
    nlohmann::json found;
    together(world, [&] {
        if (world.rank() != 0) return;
        const EmbedInput input =
            prepare_embed_inputs(inputs_of(arguments), arguments.input, arguments.asks_for_fields, arguments.output + ".partial",
                                 static_cast<std::size_t>(at::get_num_threads()));
        found = {
            {"file", input.file.string()}, {"are_records", input.are_records}, {"ids", input.ids.string()}, {"name", input.name}};
    });
    found = nlohmann::json::parse(world.text_of_first(found.dump()));
    return {found.at("file").get<std::string>(), found.at("are_records").get<bool>(), found.at("ids").get<std::string>(),
            found.at("name").get<std::string>()};
}

/// Surveys the texts. Plain text in another encoding or with other line ends is copied first.
TextSurvey survey(const EmbedArguments& arguments, const EmbedInput& input, World& world) {
    TextSurvey text;
    together(world, [&] { text = input.are_records ? survey_records(input.file, input.name) : survey_text(input.file); });
    text.name = input.name;
    if (!text.must_convert) return text;
    const fs::path copy = arguments.output + ".partial/text";
    together(world, [&] {
        if (world.rank() == 0) write_atomically(copy, [&](std::ostream& out) { write_as_lines(input.file, out); });
    });
    together(world, [&] {
        text = survey_text(copy);
        text.name = input.name;
        if (text.must_convert) throw DataError(concat(input.name, ": begins with two byte order marks; expected at most one"));
    });
    return text;
}

void remove_copies(const fs::path& folder) {
    std::error_code ignored;
    fs::remove(folder / "text", ignored);
    for (const char* name : embed_input_files) fs::remove(folder / name, ignored);
    fs::remove_all(folder / embed_part_folder, ignored);
    fs::remove(folder, ignored);  // if it is empty
}

/// Fills in what was not given from the settings of a sentence-transformers folder, and the length from the tokenizer's.
/// @returns those settings
SentenceSettings take_sentence_settings(EmbedArguments& arguments, const LoadedModel& model, ModelTokenizer& tokenizer) {
    const bool is_of_sentences = read_sentence_settings(model.folder).has_value();
    tokenizer =
        tokenizer_of(model, arguments.cased, read_sentence_settings(model.folder).value_or(SentenceSettings{}).lowers_first);
    const SentenceSettings settings = decide_sentence_settings(
        model, arguments.vectors, arguments.sets_normalize ? std::optional(arguments.normalize) : std::nullopt,
        tokenizer.max_length);
    arguments.vectors = settings.pooling;
    arguments.normalize = settings.normalizes;
    if (arguments.max_length == 0) arguments.max_length = *settings.max_length;
    else if (model.sequence_length > 0 && arguments.max_length > model.sequence_length)
        log_warning(concat("--max-length ", arguments.max_length, ": the run trained on at most ", model.sequence_length,
                           " tokens, so later positions may be untrained\n  do: leave --max-length out"));
    if (is_of_sentences)
        log_info(concat(model.folder.string(), ": a sentence-transformers model: ", arguments.vectors, " vectors",
                        arguments.normalize ? " of length 1" : "", ", texts of at most ", arguments.max_length, " tokens",
                        settings.prompt.empty() ? "" : concat(", each after the prompt \"", displayable(settings.prompt), "\"")));
    return settings;
}

TextEncoderSettings encoder_settings(const EmbedArguments& arguments, const LoadedModel& model, const SentenceSettings& sentences,
                                     const ModelTokenizer& tokenizer) {
    const std::int64_t longest = shape_of(model.config).longest_sequence;
    if (arguments.max_length > longest)
        throw ConfigError(concat("--max-length ", arguments.max_length, ": must be at most the model's ", longest, " positions"));
    if (arguments.max_length < 3)  // the option's own limit
        throw ConfigError(concat(model.folder.string(), ": its files limit texts to ", arguments.max_length,
                                 " tokens (max_seq_length or model_max_length), [CLS] and [SEP] included; expected at least 3",
                                 "\n  do: set another with --max-length"));
    return {pooling_named(arguments.vectors),
            arguments.max_length,
            arguments.batch_tokens,
            arguments.normalize,
            static_cast<std::size_t>(at::get_num_threads()),
            sentences.prompt,
            tokenizer.truncates_left};
}

void report(const EmbedArguments& arguments, const EmbedCounts& counts, const TextEncoderSettings& settings, std::int64_t hidden,
            bool are_records) {
    if (counts.truncated_lines > 0)
        log_warning(concat(with_thousands(counts.truncated_lines), " of ", with_thousands(counts.lines),
                           are_records ? " records" : " lines", " are longer than ", settings.max_length,
                           " tokens and were truncated"));
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

int run(EmbedArguments arguments) {
    vector_format_of(arguments.output);
    const Launch launch = read_launch();
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch)) return *code;
    const at::Device device = device_named(arguments.device, launch.local_rank);
    const std::unique_ptr<World> world = patient_world(launch);
    const bool leads = world->rank() == 0;
    std::unique_ptr<EmbeddingLock> lock;
    LoadedModel model;
    ModelTokenizer tokenizer;
    SentenceSettings sentences;
    const fs::path checkpoint = found_by_first(*world, arguments.model);
    together(*world, [&] {
        model = load_model(checkpoint, arguments.precision == "bf16" ? at::kBFloat16 : at::kFloat, device);
        sentences = take_sentence_settings(arguments, model, tokenizer);
        if (arguments.vectors == "pooled") require_part(model, ModelPart::pooler, "--vectors pooled");
        if (fs::exists(arguments.output))
            throw ConfigError(concat("--output ", arguments.output, ": exists\n  do: remove it, or give another name"));
        if (const fs::path ids = ids_beside(arguments.output); vector_format_of(arguments.output) == VectorFormat::npy &&
                                                               fs::exists(ids) &&
                                                               !EmbeddingStore::has_placed_ids(arguments.output))
            throw ConfigError(concat(ids.string(),
                                     ": exists, and would be taken for the ids of the new vectors\n  do: remove it, ",
                                     "or give another --output"));
        if (leads) lock = std::make_unique<EmbeddingLock>(arguments.output);
    });
    const TextEncoderSettings settings = encoder_settings(arguments, model, sentences, tokenizer);
    const EmbedInput input = shared_input(arguments, *world);
    const TextSurvey text = survey(arguments, input, *world);
    EmbeddingRequest request;
    together(*world, [&] {
        if (leads) require_known_tokens(text, *tokenizer.tokenizer, arguments.max_unknown);
    });
    together(*world, [&] {
        request = {arguments.output,
                   {text.lines, shape_of(model.config).hidden_size},
                   text.parts.size(),
                   arguments.vectors,
                   embedding_identity(text, *model.parameters,
                                      {{"vectors", arguments.vectors},
                                       {"precision", arguments.precision},
                                       {"max_length", settings.max_length},
                                       {"normalize", arguments.normalize},
                                       {"cased", tokenizer.casing == Casing::cased},
                                       {"tokenizer_crc32", tokenizer.files_crc32},
                                       {"settings_crc32", settings_crc32(model.config)},
                                       {"encoder_crc32", encoder_crc32(*model.parameters, settings.pooling)}})};
        request.ids = input.ids;
        if (!input.ids.empty()) request.identity["ids_crc32"] = crc32_of_file(input.ids);
        if (!settings.prompt.empty()) request.identity["prompt"] = settings.prompt;
        if (settings.truncates_left) request.identity["truncates"] = "left";
        if (leads && EmbeddingStore::prepare(request)) log_info(concat("continuing with ", arguments.output, ".partial"));
    });
    std::unique_ptr<EmbeddingStore> store;
    together(*world, [&] { store = std::make_unique<EmbeddingStore>(request); });
    model.model->pack_weights();
    const TextEncoder encoder(*model.model, *tokenizer.tokenizer, device, settings);
    const EmbedCounts counts = embed(text, encoder, *store, *world);
    if (const auto warning = warning_of_unknown(counts.unknown, tokenizer.tokenizer->vocabulary()); leads && warning)
        log_warning(*warning);
    if (leads) remove_copies(arguments.output + ".partial");
    if (leads) report(arguments, counts, settings, shape_of(model.config).hidden_size, input.are_records);
    return 0;
}

}  // namespace

void add_embed_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<EmbedArguments>();
    CLI::App* command =
        app.add_subcommand("embed", "Computes an embedding vector for each line of a text, or each record of a file");
    command->add_option("model", arguments->model, "A checkpoint's folder, or a run's folder (its newest checkpoint)")
        ->required();
    command->add_option(
        "text", arguments->texts,
        "Files with a text per line; or JSONL, CSV or TSV with a header, Parquet or FASTA, with a text per record; or folders of "
        "them. Formats, and gzip, bzip2 and zstd, are recognized by content. They may be addresses: s3://BUCKET/KEY, "
        "https://HOST/PATH or hf://datasets/OWNER/NAME/PATH. -, also if nothing is named: standard input");
    command->add_option("--inputs-from", arguments->inputs_from,
                        "File that lists further inputs, one per line, which are read after those of the command line");
    command
        ->add_option("--output", arguments->output,
                     "The new file (.npy, .h5 or .parquet): fp32, a row per line or record, in their order")
        ->required();
    command
        ->add_option("--vectors", arguments->vectors,
                     "The vector of a line. mean: the mean over all tokens. cls: the first token's. pooled: the pooler's output. "
                     "Default: what a sentence-transformers folder says, else mean")
        ->check(CLI::IsMember({"mean", "cls", "pooled"}));
    const CLI::Option* normalize = command->add_flag("--normalize,!--no-normalize", arguments->normalize,
                                                     "Scale vectors to length 1. Default: what a sentence-transformers folder "
                                                     "says, else no");
    add_text_options(*command, arguments->input);
    const CLI::Option* text_field = command->get_option("--text-field");
    const CLI::Option* id_field = command->add_option(
        "--id-field", arguments->input.id_field,
        "Field of JSONL, CSV, TSV and Parquet that holds a record's id. .h5 and .parquet files keep the ids beside "
        "the vectors; of vectors.npy, the file vectors.ids.txt has an id per row. Default for several files and folders: FILE:N, "
        "the N-th text of a file");
    add_device_options(*command, arguments->precision, arguments->device);
    command
        ->add_option(
            "--max-length", arguments->max_length,
            "Truncate texts to this many tokens. 0: to max_seq_length of a sentence-transformers folder, else to the length that "
            "the run trained on, else to the model's maximum")
        ->check(CLI::IsMember({"0"}) | CLI::Range(std::int64_t{3}, std::int64_t{1} << 20))
        ->capture_default_str();
    command->add_option("--batch-tokens", arguments->batch_tokens, "Tokens per forward pass")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        ->add_option("--max-unknown", arguments->max_unknown,
                     "Share of the texts' tokens that may be [UNK]. Above it, no vectors are computed")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1.0));
    command->add_flag("--cased", arguments->cased,
                      "Keep case and accents. Default: as the model records, else as its vocabulary's tokens do");
    add_local_ranks_option(*command, arguments->local_ranks);
    command->add_flag("--json", arguments->json, "Print the summary as a JSON object");
    command->callback([arguments, normalize, text_field, id_field, &exit_code] {
        arguments->asks_for_fields = text_field->count() + id_field->count() > 0;
        arguments->sets_normalize = normalize->count() > 0;
        exit_code = run(*arguments);
    });
}

}  // namespace bertpretrain
