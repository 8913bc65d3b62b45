#include <algorithm>
#include <iostream>
#include <limits>

#include <nlohmann/json.hpp>

#include "commands.h"

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "shards/check/row_check.h"
#include "shards/check/shard_statistics.h"
#include "shards/check/shard_verification.h"
#include "shards/shard_reader.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct ShowOptions {
    std::string path, vocabulary;
    std::int64_t first = 0, count = 3;
    bool as_json = false;
};

/// The shard itself, or the first one of a folder.
fs::path shard_at(const fs::path& path) {
    if (!fs::is_directory(path)) return path;
    std::vector<fs::path> files = list_files(path, {".h5", ".hdf5"});
    std::erase_if(files, [](const fs::path& file) { return !shard_kind(file); });
    if (files.empty()) throw DataError(concat(path.string(), ": is a folder without shards, expected .h5 or .hdf5 files"));
    return files.front();
}

/// What a position of a row holds, and what it held before it was masked.
struct ShownToken {
    std::string token, original;
    bool is_masked = false;
};

/// The tokens of one row; without a vocabulary their ids.
std::vector<ShownToken> tokens_of(const ShardRows& rows, std::int64_t row, const std::optional<Vocabulary>& vocabulary) {
    const auto name = [&](std::int32_t id) { return vocabulary ? vocabulary->token(id) : std::to_string(id); };
    std::vector<ShownToken> tokens;
    for (std::int64_t t = 0; t < row_length(rows, row); ++t)
        tokens.push_back({name(rows.input_ids_RS[static_cast<std::size_t>(row * rows.sequence_length + t)]), "", false});
    for (std::int64_t p = 0; p < row_masked(rows, row); ++p) {
        const auto at = static_cast<std::size_t>(row * rows.max_predictions + p);
        ShownToken& masked = tokens[static_cast<std::size_t>(rows.masked_lm_positions_RP[at])];
        masked.original = name(rows.masked_lm_ids_RP[at]);
        masked.is_masked = true;
    }
    return tokens;
}

/// Tokens in each document of a packed row, in each segment of another one.
std::vector<std::int64_t> lengths_of(const ShardRows& rows, std::int64_t row) {
    const auto begin = static_cast<std::size_t>(row * rows.sequence_length);
    const auto length = static_cast<std::size_t>(row_length(rows, row));
    const auto& part_of = rows.has_labels() ? rows.segment_ids_RS : rows.input_mask_RS;
    return document_lengths(std::span(part_of).subspan(begin, length));
}

std::string row_text(const ShardRows& rows, std::int64_t row, const std::optional<Vocabulary>& vocabulary) {
    const std::vector<ShownToken> tokens = tokens_of(rows, row, vocabulary);
    std::string text;
    std::size_t next = 0;
    for (const std::int64_t length : lengths_of(rows, row)) {
        const std::size_t end = next + static_cast<std::size_t>(length);
        for (; next < end; ++next) {
            const ShownToken& shown = tokens[next];
            text += text.empty() || text.back() == '\n' ? "" : " ";
            if (!shown.is_masked) text += shown.token;
            else if (shown.token == shown.original) text += concat("{", shown.token, "}");
            else text += concat("{", shown.original, " -> ", shown.token, "}");
        }
        text += "\n";
    }
    return text;
}

std::string heading(const ShardRows& rows, std::int64_t row) {
    const std::string_view label = !rows.has_labels() ? ""
                                   : rows.next_sentence_labels_R[static_cast<std::size_t>(row)] == 1
                                       ? ", the second segment is random"
                                       : ", the second segment follows";
    const std::size_t documents = lengths_of(rows, row).size();
    return concat(row_length(rows, row), " tokens, ", row_masked(rows, row), " masked", label,
                  !rows.has_labels() && documents > 1 ? concat(", ", documents, " documents") : "");
}

nlohmann::ordered_json row_json(const ShardRows& rows, std::int64_t row, const std::optional<Vocabulary>& vocabulary) {
    nlohmann::ordered_json json;
    json["tokens"] = nlohmann::ordered_json::array();
    json["masked"] = nlohmann::ordered_json::array();
    const std::vector<ShownToken> tokens = tokens_of(rows, row, vocabulary);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        json["tokens"].push_back(tokens[t].token);
        if (tokens[t].is_masked) json["masked"].push_back({{"position", t}, {"token", tokens[t].original}});
    }
    if (rows.has_labels()) {
        json["segments"] = lengths_of(rows, row);
        json["is_random_next"] = rows.next_sentence_labels_R[static_cast<std::size_t>(row)] == 1;
    } else {
        json["documents"] = lengths_of(rows, row);
    }
    return json;
}

void print_row(const ShardRows& rows, std::int64_t row, const std::string& where, const std::optional<Vocabulary>& vocabulary) {
    std::cout << displayable(concat(where, ": ", heading(rows, row), "\n", row_text(rows, row, vocabulary)), "\n");
}

void print_row_json(const ShardRows& rows, std::int64_t row, nlohmann::ordered_json where,
                    const std::optional<Vocabulary>& vocabulary) {
    where.update(row_json(rows, row, vocabulary));
    std::cout << where.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void show(const ShowOptions& options) {
    const fs::path shard = fs::absolute(shard_at(options.path)), folder = shard.parent_path();
    if (const std::optional<DataError> problem = verify_shards({shard}, read_manifest(folder), 1).front().problem) throw *problem;
    const fs::path file = options.vocabulary.empty() ? tokenizer_in_folder(folder) : fs::path(options.vocabulary);
    const std::optional<Vocabulary> vocabulary = file.empty() ? std::nullopt : std::optional(Vocabulary::read(file));
    const ShardReader reader(shard);
    if (options.first >= reader.rows())
        throw ConfigError(concat("--row: is ", options.first, ", but ", shard.string(), " has rows 0 to ", reader.rows() - 1));
    const ShardRows rows = reader.read(options.first, std::min(options.count, reader.rows() - options.first));
    check_rows(rows, vocabulary ? vocabulary->size() : std::numeric_limits<std::int32_t>::max(), shard.string(), options.first);
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        const std::int64_t number = options.first + row;
        if (options.as_json) print_row_json(rows, row, {{"file", shard.string()}, {"row", number}}, vocabulary);
        else print_row(rows, row, concat(row > 0 ? "\n" : "", shard.filename().string(), " row ", number), vocabulary);
    }
    std::cout.flush();
}

}  // namespace

void add_show_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("show", "Prints rows of a shard as tokens, with what is masked: {word -> [MASK]}");
    const auto options = std::make_shared<ShowOptions>();
    command->add_option("SHARD", options->path, "A .h5 or .hdf5 shard, or a folder of them: its first one")->required();
    command->add_option("--row", options->first, "First row to print, counted from 0")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_option("--rows", options->count, "Number of rows to print")->check(CLI::PositiveNumber)->capture_default_str();
    command->add_option("--vocabulary", options->vocabulary,
                        "Vocabulary or tokenizer.json that the shards were made with; default: the one in their folder, else ids "
                        "are printed");
    command->add_flag("--json", options->as_json, "Print one JSON object per row");
    command->callback([options] { show(*options); });
}

}  // namespace bertpretrain
