#include <iostream>

#include <nlohmann/json.hpp>

#include "commands.h"

#include "core/error.h"
#include "core/log.h"
#include "core/strings.h"
#include "core/table.h"
#include "core/threads.h"
#include "shards/shard_checker.h"

namespace bertpretrain {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const ShardContent& content) {
    return {{"rows", content.rows},
            {"tokens", content.tokens},
            {"masked", content.masked},
            {"masking_rate", content.masking_rate()},
            {"mean_length", content.mean_length()}};
}

const char* kind_name(ShardKind kind) { return kind == ShardKind::training ? "training" : "held_out"; }

ordered_json to_json(const FolderReport& report, const std::string& folder) {
    ordered_json shards = ordered_json::array();
    for (const CheckedShard& shard : report.shards) {
        ordered_json entry = {{"file", shard.file}, {"kind", kind_name(shard.kind)}, {"is_sound", shard.is_sound}};
        entry["sequence_length"] = shard.sequence_length;
        entry["max_predictions"] = shard.max_predictions;
        entry.update(to_json(shard.content));
        shards.push_back(std::move(entry));
    }
    ordered_json document = {{"folder", folder}, {"has_manifest", report.has_manifest}};
    document["vocabulary_size"] = report.vocabulary_size ? ordered_json(*report.vocabulary_size) : ordered_json(nullptr);
    document["training"] = to_json(report.training);
    document["held_out"] = to_json(report.held_out);
    document["duplicate_rows"] = report.duplicate_rows;
    document["unigram_cross_entropy"] = report.unigram_cross_entropy;
    document["problems"] = report.problems;
    document["shards"] = std::move(shards);
    return document;
}

std::vector<std::string> cells(const std::string& name, const ShardContent& content, const std::string& state) {
    return {name,
            with_thousands(content.rows),
            with_thousands(content.tokens),
            fixed(100 * content.masking_rate(), 2) + " %",
            fixed(content.mean_length(), 1),
            state};
}

void print_table(const FolderReport& report) {
    Table table({"shard", "rows", "tokens", "masked", "mean length", "state"});
    for (const CheckedShard& shard : report.shards) table.add(cells(shard.file, shard.content, shard.is_sound ? "sound" : "BAD"));
    if (report.training.rows > 0) table.add(cells("all training", report.training, ""));
    if (report.held_out.rows > 0) table.add(cells("all held out", report.held_out, ""));
    std::cout << table.text() << "duplicate rows: " << with_thousands(report.duplicate_rows)
              << ", unigram cross-entropy of training labels: " << fixed(report.unigram_cross_entropy, 4) << " nats\n";
}

void run(const std::string& folder, const std::string& vocabulary, bool as_json, std::size_t threads) {
    const auto file = vocabulary.empty() ? std::nullopt : std::optional<std::filesystem::path>(vocabulary);
    const FolderReport report = check_shard_folder(folder, file, threads > 0 ? threads : available_cores());
    if (!report.vocabulary_size)
        log_warning(concat(folder, ": no vocabulary is known, so ids were not compared with its size; give --vocabulary"));
    if (!report.has_manifest) log_warning(concat(folder, ": has no manifest.json, so checksums could not be compared"));
    if (as_json) std::cout << to_json(report, folder).dump(2, ' ', false, ordered_json::error_handler_t::replace) << "\n";
    else print_table(report);
    std::cout.flush();
    if (report.problems.empty()) return;
    throw DataError(concat(folder, ": ", report.problems.size(), report.problems.size() == 1 ? " problem" : " problems", "\n- ",
                           join(report.problems, "\n- ")));
}

}  // namespace

void add_check_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("check", "Reads a folder of shards through and says what is in it and what is wrong");
    struct Options {
        std::string folder, vocabulary;
        bool as_json = false;
        std::size_t threads = 0;
    };
    const auto options = std::make_shared<Options>();
    command->add_option("DIR", options->folder, "Folder of .h5 or .hdf5 shards, ours or NVIDIA's")->required();
    command->add_option("--vocabulary", options->vocabulary,
                        "Vocabulary the shards were made with; vocab.txt in DIR when not given");
    command->add_option("--threads", options->threads, "Threads; 0 for one per core")->capture_default_str();
    command->add_flag("--json", options->as_json, "Print one JSON object instead of a table");
    command->callback([options] { run(options->folder, options->vocabulary, options->as_json, options->threads); });
}

}  // namespace bertpretrain
