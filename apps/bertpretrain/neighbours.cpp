// bertpretrain neighbours VECTORS [TEXT...] --model MODEL | --queries FILE | --rows N... | --spread N

#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "rank_options.h"

#include "archive/row_ids.h"
#include "archive/vector_origin.h"
#include "archive/vector_reader.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "inference/embed.h"
#include "inference/embedded_texts.h"
#include "inference/loaded_model.h"
#include "inference/model_tokenizer.h"
#include "inference/sentence_folder.h"
#include "inference/text_encoder.h"
#include "plan/device_choice.h"
#include "reports/nearest_rows.h"
#include "text/reader/read_text.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct NeighboursArguments {
    std::string vectors, model, queries, pooling, by = "cosine", precision = "fp32", device = "auto";
    std::vector<std::string> texts;
    std::vector<fs::path> embedded;  ///< the inputs that the vectors were made of
    std::vector<std::int64_t> rows;
    std::int64_t spread = 0, top = 10;
    std::optional<float> least_score;  ///< --min-score
    bool limits_count = true;          ///< --top, or its default, is asked for
    bool cased = false, center = false, json = false, any_model = false;
    InputSettings input;
};

/// What is searched for.
struct Queries {
    std::vector<float> values_QH{};
    std::vector<std::int64_t> rows{};  ///< where queries are rows of a file
    std::vector<std::string> texts{};  ///< where they are texts
    bool are_own_rows = false;         ///< rows of the file that is searched
    std::size_t count() const { return texts.empty() ? rows.size() : texts.size(); }
};

/// Reads the rows of `file`, one by one.
void read_rows(const VectorReader& file, Queries& queries) {
    const auto columns = static_cast<std::size_t>(file.shape().columns);
    queries.values_QH.resize(queries.rows.size() * columns);
    for (std::size_t q = 0; q < queries.rows.size(); ++q)
        file.read(queries.rows[q], std::span(queries.values_QH).subspan(q * columns, columns));
}

Queries own_rows(const NeighboursArguments& arguments, const VectorReader& vectors) {
    Queries queries{.rows = arguments.rows, .are_own_rows = true};
    const std::int64_t rows = vectors.shape().rows, spread = std::min(arguments.spread, rows);
    for (std::int64_t i = 0; i < spread; ++i) queries.rows.push_back(i * rows / spread);
    for (const std::int64_t row : queries.rows)
        if (row < 0 || row >= rows)
            throw ConfigError(concat("--rows ", row, ": ", arguments.vectors, " has the rows 0 to ", rows - 1));
    read_rows(vectors, queries);
    return queries;
}

/// Refuses queries that are not comparable with the vectors, or warns of them with --any-model.
void refuse_unlike(const NeighboursArguments& arguments, const std::string& message, const std::string& advice) {
    if (!arguments.any_model)
        throw ConfigError(concat(message, "\n  do: ", advice, ", or add --any-model where the two are meant to be compared"));
    log_warning(concat(message, "; --any-model accepts it"));
}

/// Compares the record of the vectors with the model that the queries go through.
/// @returns the record, which says how the queries become vectors; an empty one for another model, which --any-model accepts
VectorOrigin record_of_model(const NeighboursArguments& arguments, const VectorOrigin& origin, const LoadedModel& model) {
    const std::string pooling = arguments.pooling.empty() ? origin.vectors : arguments.pooling;
    if (!origin.vectors.empty() && pooling != origin.vectors)
        refuse_unlike(arguments, concat("--vectors ", pooling, ": ", arguments.vectors, " has vectors of ", origin.vectors),
                      "leave --vectors out");
    if (pooling == "pooled") require_part(model, ModelPart::pooler, "--vectors pooled");
    if (origin.is_of_earlier_version)
        log_warning(concat(arguments.vectors, ": an earlier version made it and did not record encoder_crc32, so ",
                           arguments.model, " cannot be compared with the model that made the vectors"));
    if (!origin.encoder_crc32) return origin;
    const std::uint32_t found = encoder_crc32(*model.parameters, pooling_named(origin.vectors));
    if (found == *origin.encoder_crc32) {
        if (origin.settings_crc32 && *origin.settings_crc32 != settings_crc32(model.config))
            refuse_unlike(
                arguments,
                concat(model.folder.string(), ": its settings, such as activation and epsilon, are not those that made ",
                       arguments.vectors, ", with the same weights"),
                "use the config.json that made the vectors");
        return origin;
    }
    refuse_unlike(arguments,
                  concat(model.folder.string(), ": is not the model that made ", arguments.vectors, ": its encoder_crc32 is ",
                         found, ", the one recorded with the vectors is ", *origin.encoder_crc32),
                  "name the model that made the vectors, make the vectors again with this one");
    return {};
}

/// Opens the model's tokenizer with the casing of the stored vectors. @param record see record_of_model()
ModelTokenizer tokenizer_of_queries(const NeighboursArguments& arguments, const VectorOrigin& record, const LoadedModel& model) {
    const bool lowers = read_sentence_settings(model.folder).value_or(SentenceSettings{}).lowers_first;
    if (arguments.cased && record.cased == false)
        refuse_unlike(arguments, concat("--cased: ", arguments.vectors, " has vectors of uncased text"), "leave --cased out");
    ModelTokenizer tokenizer = tokenizer_of(model, arguments.cased, lowers);
    if (arguments.cased || !record.cased || *record.cased == (tokenizer.casing == Casing::cased)) return tokenizer;
    try {
        if (*record.cased) return tokenizer_of(model, true, lowers);  // `embed` had --cased
    } catch (const ConfigError&) {
        // the tokenizer's files contradict --cased, and did not when the vectors were made
    }
    refuse_unlike(arguments,
                  concat(model.folder.string(), ": its tokenizer is ", *record.cased ? "uncased" : "cased", "; ",
                         arguments.vectors, " has vectors of ", *record.cased ? "cased" : "uncased", " text"),
                  "use the tokenizer that made the vectors, make the vectors again with this one");
    return tokenizer;
}

/// Returns how a query becomes a vector: as the options say, then as the record, then as the model's folder.
SentenceSettings settings_of_queries(const NeighboursArguments& arguments, const VectorOrigin& record, const LoadedModel& model,
                                     const ModelTokenizer& tokenizer) {
    SentenceSettings settings = decide_sentence_settings(model, arguments.pooling.empty() ? record.vectors : arguments.pooling,
                                                         record.normalize, tokenizer.max_length);
    if (record.max_length) settings.max_length = std::min(*record.max_length, shape_of(model.config).longest_sequence);
    if (!record.prompt || settings.prompt == *record.prompt) return settings;
    if (settings.prompt.empty()) settings.prompt = *record.prompt;
    else
        refuse_unlike(arguments,
                      concat(model.folder.string(), ": puts the prompt \"", displayable(settings.prompt), "\" before a text; ",
                             arguments.vectors, " was made with \"", displayable(*record.prompt), "\""),
                      "name the model that made the vectors");
    return settings;
}

/// Compares the records of two files of vectors.
void check_same_origin(const NeighboursArguments& arguments, const VectorOrigin& vectors, const VectorOrigin& queries) {
    const std::string advice = "make both files with one model and the same --vectors";
    if (!vectors.vectors.empty() && !queries.vectors.empty() && vectors.vectors != queries.vectors)
        return refuse_unlike(arguments,
                             concat("--queries ", arguments.queries, ": has vectors of ", queries.vectors, "; ",
                                    arguments.vectors, " has vectors of ", vectors.vectors),
                             advice);
    if (vectors.cased && queries.cased && *vectors.cased != *queries.cased)
        return refuse_unlike(arguments,
                             concat("--queries ", arguments.queries, ": has vectors of ", *queries.cased ? "cased" : "uncased",
                                    " text; ", arguments.vectors, " of ", *vectors.cased ? "cased" : "uncased", " text"),
                             "make both files with --cased, or both without it");
    if (vectors.normalize && queries.normalize && *vectors.normalize != *queries.normalize && arguments.by == "dot")
        return refuse_unlike(
            arguments,
            concat("--by dot: ", *queries.normalize ? arguments.queries : arguments.vectors, " has vectors of length 1, but ",
                   *queries.normalize ? arguments.vectors : arguments.queries, " of any length"),
            "make both files with --normalize, or both without it, use --by cosine");
    if (vectors.encoder_crc32 && queries.encoder_crc32 && *vectors.encoder_crc32 != *queries.encoder_crc32)
        refuse_unlike(arguments,
                      concat("--queries ", arguments.queries, ": another model made it than ", arguments.vectors,
                             ": its encoder_crc32 is ", *queries.encoder_crc32, ", the other one is ", *vectors.encoder_crc32),
                      advice);
}

Queries rows_of_file(const NeighboursArguments& arguments, const VectorOrigin& origin) {
    const auto reader = VectorReader::open(arguments.queries);
    check_same_origin(arguments, origin, origin_of(arguments.queries, *reader));
    Queries queries;
    for (std::int64_t row = 0; row < reader->shape().rows; ++row) queries.rows.push_back(row);
    queries.values_QH.resize(static_cast<std::size_t>(reader->shape().rows * reader->shape().columns));
    reader->read(0, queries.values_QH);
    return queries;
}

Queries encoded_texts(const NeighboursArguments& arguments, const VectorOrigin& origin) {
    Queries queries{.texts = arguments.texts};
    if (queries.texts == std::vector<std::string>{"-"}) {
        queries.texts.clear();
        TextLines in("-");
        for (std::string line; in.next(line);) queries.texts.push_back(line);
    }
    if (queries.texts.empty()) throw DataError("standard input: has no lines; expected a text per line");
    const at::Device device = device_named(arguments.device, 0);
    const LoadedModel model = load_model(arguments.model, arguments.precision == "bf16" ? at::kBFloat16 : at::kFloat, device);
    const VectorOrigin record = record_of_model(arguments, origin, model);
    const ModelTokenizer tokenizer = tokenizer_of_queries(arguments, record, model);
    const SentenceSettings sentences = settings_of_queries(arguments, record, model, tokenizer);
    model.model->pack_weights();
    const TextEncoder encoder(*model.model, *tokenizer.tokenizer, device,
                              {.pooling = pooling_named(sentences.pooling),
                               .max_length = *sentences.max_length,
                               .normalize = sentences.normalizes,
                               .threads = static_cast<std::size_t>(at::get_num_threads()),
                               .prompt = sentences.prompt,
                               .truncates_left = tokenizer.truncates_left});
    const TextVectors encoded = encoder.encode(queries.texts);
    if (const auto warning = warning_of_unknown(encoded.unknown, tokenizer.tokenizer->vocabulary())) log_warning(*warning);
    const at::Tensor vectors_QH = encoded.vectors_LH;
    queries.values_QH.assign(vectors_QH.const_data_ptr<float>(), vectors_QH.const_data_ptr<float>() + vectors_QH.numel());
    return queries;
}

Queries queries_of(const NeighboursArguments& arguments, const VectorReader& vectors, const VectorOrigin& origin) {
    const int ways = !arguments.texts.empty() + !arguments.queries.empty() + (!arguments.rows.empty() || arguments.spread > 0);
    if (ways != 1 || arguments.texts.empty() != arguments.model.empty())
        throw ConfigError(
            "neighbours: expected queries in one way\n  do: give texts with --model, or --queries FILE, or --rows or --spread");
    Queries queries = !arguments.texts.empty()     ? encoded_texts(arguments, origin)
                      : !arguments.queries.empty() ? rows_of_file(arguments, origin)
                                                   : own_rows(arguments, vectors);
    if (queries.count() == 0)
        throw DataError(concat(arguments.queries.empty() ? arguments.vectors : arguments.queries, ": has no vectors"));
    const auto columns = static_cast<std::int64_t>(queries.values_QH.size() / queries.count());
    if (columns != vectors.shape().columns)
        throw ConfigError(concat(arguments.vectors, ": has vectors of ", vectors.shape().columns, " numbers, and ",
                                 arguments.queries.empty() ? arguments.model : arguments.queries, " of ", columns,
                                 "\n  do: use the model that made ", arguments.vectors));
    return queries;
}

/// The ids and texts of all rows that are printed.
struct RowNames {
    std::map<std::int64_t, std::string> ids, texts;

    /// A row for people: its id and text; without both, its number.
    std::string of(std::int64_t row) const {
        const auto id = ids.find(row), text = texts.find(row);
        if (id == ids.end()) return text == texts.end() ? concat("row ", row) : displayable(text->second);
        return text == texts.end() ? displayable(id->second) : concat(displayable(id->second), "  ", displayable(text->second));
    }
    nlohmann::ordered_json json_of(std::int64_t row) const {
        nlohmann::ordered_json json{{"row", row}};
        if (const auto id = ids.find(row); id != ids.end()) json["id"] = id->second;
        if (const auto text = texts.find(row); text != texts.end()) json["text"] = text->second;
        return json;
    }
};

void print(const NeighboursArguments& arguments, const Queries& queries, const std::vector<std::vector<NearRow>>& found,
           const RowNames& names) {
    for (std::size_t q = 0; q < found.size(); ++q) {
        nlohmann::ordered_json json;
        if (!queries.texts.empty()) json["query"] = {{"text", queries.texts[q]}};
        else
            json["query"] =
                queries.are_own_rows ? names.json_of(queries.rows[q]) : nlohmann::ordered_json{{"row", queries.rows[q]}};
        json["neighbours"] = nlohmann::ordered_json::array();
        std::string lines = !queries.texts.empty() ? displayable(queries.texts[q])
                            : queries.are_own_rows ? names.of(queries.rows[q])
                                                   : concat("row ", queries.rows[q], " of ", displayable(arguments.queries));
        for (const NearRow& near : found[q]) {
            json["neighbours"].push_back(names.json_of(near.row));
            json["neighbours"].back()["score"] = near.score;
            lines += concat("\n  ", fixed(near.score, 3), "  ", names.of(near.row));
        }
        std::cout << (arguments.json ? json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : lines) << "\n";
    }
    std::cout << std::flush;
}

NearestSettings search_settings(const NeighboursArguments& arguments, std::size_t threads) {
    NearestSettings settings{.by = arguments.by == "dot" ? Similarity::dot : Similarity::cosine,
                             .count = arguments.limits_count ? arguments.top : std::numeric_limits<std::int64_t>::max(),
                             .centers = arguments.center,
                             .threads = threads};
    if (!arguments.least_score) return settings;
    if (settings.by == Similarity::cosine && std::abs(*arguments.least_score) > 1)
        throw ConfigError(
            concat("--min-score ", *arguments.least_score, ": a cosine is from -1 to 1\n  do: give such a score, or --by dot"));
    settings.least_score = *arguments.least_score;
    return settings;
}

void run(const NeighboursArguments& arguments) {
    const auto vectors = VectorReader::open(arguments.vectors);
    const auto [rows, columns] = vectors->shape();
    const VectorOrigin origin = origin_of(arguments.vectors, *vectors);
    const Queries queries = queries_of(arguments, *vectors, origin);
    std::vector<NearestQuery> asked;
    for (std::size_t q = 0; q < queries.count(); ++q)
        asked.push_back(
            {std::span(queries.values_QH).subspan(q * static_cast<std::size_t>(columns), static_cast<std::size_t>(columns)),
             queries.are_own_rows ? queries.rows[q] : -1});
    const auto threads = static_cast<std::size_t>(at::get_num_threads());
    const double start = seconds_now();
    const auto found = nearest_rows(*vectors, asked, search_settings(arguments, threads));
    const double seconds = seconds_now() - start, bytes = static_cast<double>(rows * columns) * sizeof(float);
    std::set<std::int64_t> wanted;
    std::int64_t pairs = 0;
    for (const auto& of_query : found) pairs += std::ssize(of_query);
    for (const auto& of_query : found)
        for (const NearRow& near : of_query) wanted.insert(near.row);
    if (queries.are_own_rows) wanted.insert(queries.rows.begin(), queries.rows.end());
    RowNames names{ids_of_rows(arguments.vectors, rows, wanted), {}};
    if (!arguments.embedded.empty())
        names.texts = texts_of_rows(arguments.embedded, arguments.input, rows, origin, wanted, threads);
    print(arguments, queries, found, names);
    log_info(concat(with_thousands(static_cast<std::int64_t>(asked.size())), " queries, ", with_thousands(rows), " x ", columns,
                    " vectors: ", with_thousands(pairs), " found, ", fixed(seconds, 4), " s, ", fixed(bytes / seconds / 1e9, 2),
                    " GB/s"));
}

}  // namespace

void add_neighbours_command(CLI::App& app) {
    const auto arguments = std::make_shared<NeighboursArguments>();
    CLI::App* command = app.add_subcommand("neighbours", "Finds the vectors that are most similar to texts or to other vectors");
    command->add_option("vectors", arguments->vectors, "The file of vectors to search (.npy or .h5), as `embed` writes it")
        ->required();
    command->add_option("texts", arguments->texts,
                        "Texts to search for, which --model turns into vectors. -: a text per line of standard input");
    command->add_option("--model", arguments->model,
                        "The model that made the vectors: a checkpoint's folder, a run's folder, or an export");
    command
        ->add_option(
            "--vectors", arguments->pooling,
            "The vector of a text, as for `embed`: mean, cls or pooled. Default: what the file of vectors records, else what a "
            "sentence-transformers folder says, else mean")
        ->check(CLI::IsMember({"mean", "cls", "pooled"}));
    command->add_flag(
        "--any-model", arguments->any_model,
        "Accept queries of another model, --vectors or casing than the file records, with a warning: for two models "
        "that were trained to be compared");
    command->add_option("--queries", arguments->queries, "Search for each vector of this file (.npy or .h5) instead of texts");
    command->add_option("--rows", arguments->rows, "Search for these rows of the file itself, from 0; a row does not find itself")
        ->delimiter(',');
    command->add_option("--spread", arguments->spread, "Search for this many rows of the file itself, spread evenly over it")
        ->check(CLI::PositiveNumber);
    const CLI::Option* top =
        command
            ->add_option("--top", arguments->top,
                         "How many vectors to print for each query, the most similar first. With --min-score, the default is all")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
            ->capture_default_str();
    command->add_option("--min-score", arguments->least_score,
                        "Print only vectors with at least this score: all of them, or the first --top");
    command->add_option("--by", arguments->by, "The score. cosine: of the angle between two vectors. dot: the sum of products")
        ->check(CLI::IsMember({"cosine", "dot"}))
        ->capture_default_str();
    command->add_flag(
        "--center", arguments->center,
        "Subtract the mean of all vectors first. The vectors of a young model have a large part in common, which would "
        "hide their differences");
    command->add_option(
        "--text", arguments->embedded,
        "The file or folder whose vectors these are, so that texts are printed too. Of several, once for each, in "
        "the order that `embed` had; and its options for texts");
    add_text_options(*command, arguments->input);
    add_device_options(*command, arguments->precision, arguments->device);
    command->add_flag("--cased", arguments->cased,
                      "Keep case and accents. Default: what the file of vectors records, else as the model records, else as its "
                      "vocabulary's tokens do");
    command->add_flag("--json", arguments->json, "Print a JSON object per query");
    command->callback([arguments, top] {
        arguments->limits_count = top->count() > 0 || !arguments->least_score;
        run(*arguments);
    });
}

}  // namespace bertpretrain
