#include "check_report.h"

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/output/table.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const ShardContent& content) {
    return {{"rows", content.rows},
            {"tokens", content.tokens},
            {"masked", content.masked},
            {"masking_rate", content.masking_rate()},
            {"mean_length", content.mean_length()},
            {"documents_per_row", content.documents_per_row()},
            {"random_next_share", content.labelled > 0 ? ordered_json(content.random_next_share()) : ordered_json(nullptr)},
            {"mask_token_share", content.mask_share()},
            {"unchanged_share", content.unchanged_share()},
            {"unknown_share", content.unknown_share()}};
}

const char* kind_name(ShardKind kind) { return kind == ShardKind::training ? "training" : "held_out"; }

/// Returns the non-zero counts by index.
ordered_json to_json(const std::vector<std::int64_t>& histogram) {
    ordered_json counts = ordered_json::object();
    for (std::size_t place = 0; place < histogram.size(); ++place)
        if (histogram[place] > 0) counts[std::to_string(place)] = histogram[place];
    return counts;
}

ordered_json with_histograms(const ShardContent& content) {
    ordered_json json = to_json(content);
    json["rows_by_length"] = to_json(content.rows_by_length);
    json["rows_by_masking_percent"] = to_json(content.rows_by_masking);
    return json;
}

std::vector<std::string> cells(const std::string& name, const ShardContent& content, const std::string& state) {
    return {name,
            with_thousands(content.rows),
            with_thousands(content.tokens),
            fixed(100 * content.masking_rate(), 2) + " %",
            fixed(content.mean_length(), 1),
            state};
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
    return fixed(100 * static_cast<double>(part) / static_cast<double>(whole), 1) + " %";
}

std::string duplicates_text(const FolderReport& report) {
    const Duplicates& duplicates = report.duplicates;
    const CommonPassages& passages = report.passages;
    std::string text = concat("equal rows: ", with_thousands(duplicates.rows),
                              ", equal texts (ignoring masks): ", with_thousands(duplicates.texts),
                              ", held-out texts also trained on: ", with_thousands(duplicates.held_out_trained), "\n");
    if (passages.held_out_rows > 0)
        text += concat("held-out rows whose passages of ", PassageSample::passage_tokens,
                       " tokens are also in training rows: more than half of them in ",
                       percent_of(passages.mostly_trained, passages.held_out_rows), " of the rows, at least one in ",
                       percent_of(passages.with_a_trained, passages.held_out_rows), "\n");
    if (passages.rows > 0)
        text +=
            concat("rows of documents that occur more than once: ", percent_of(passages.mostly_repeated, passages.rows), "\n");
    return text;
}

/// A share is null if there are no rows of which it could be one.
ordered_json share(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? ordered_json(static_cast<double>(part) / static_cast<double>(whole)) : ordered_json(nullptr);
}

}  // namespace

std::string check_json(const FolderReport& report, const std::string& folder) {
    ordered_json shards = ordered_json::array();
    for (const CheckedShard& shard : report.shards) {
        ordered_json entry = {{"file", shard.file}, {"kind", kind_name(shard.kind)}, {"is_sound", shard.is_sound}};
        entry["sequence_length"] = shard.sequence_length;
        entry["max_predictions"] = shard.max_predictions;
        entry.update(to_json(shard.content));
        shards.push_back(std::move(entry));
    }
    ordered_json document = {{"folder", folder}, {"has_manifest", report.has_manifest}};
    document["rules_version"] = report.rules_version ? ordered_json(*report.rules_version) : ordered_json(nullptr);
    document["vocabulary_size"] = report.vocabulary_size ? ordered_json(*report.vocabulary_size) : ordered_json(nullptr);
    document["training"] = with_histograms(report.training);
    document["held_out"] = with_histograms(report.held_out);
    const Duplicates& duplicates = report.duplicates;
    document["duplicate_rows"] = duplicates.rows;
    document["duplicate_texts"] = duplicates.texts;
    document["held_out_texts_in_training"] = duplicates.held_out_trained;
    const CommonPassages& passages = report.passages;
    document["held_out_in_training"] = {{"passage_tokens", PassageSample::passage_tokens},
                                        {"rows_examined", passages.held_out_rows},
                                        {"share_with_more_than_half", share(passages.mostly_trained, passages.held_out_rows)},
                                        {"share_with_at_least_one", share(passages.with_a_trained, passages.held_out_rows)}};
    document["repeated_document_share"] = share(passages.mostly_repeated, passages.rows);
    document["unigram_cross_entropy"] = report.unigram_cross_entropy;
    document["problems"] = report.problems;
    document["warnings"] = report.warnings;
    document["shards"] = std::move(shards);
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string check_table(const FolderReport& report) {
    Table table({"shard", "rows", "tokens", "masked", "mean length", "state"});
    for (const CheckedShard& shard : report.shards) table.add(cells(shard.file, shard.content, shard.is_sound ? "sound" : "BAD"));
    if (report.training.rows > 0) table.add(cells("all training", report.training, ""));
    if (report.held_out.rows > 0) table.add(cells("all held out", report.held_out, ""));
    return concat(table.text(), duplicates_text(report),
                  "unigram cross-entropy of training labels: ", fixed(report.unigram_cross_entropy, 4), " nats\n",
                  report.training.documents > report.training.rows
                      ? concat("packed: ", fixed(report.training.documents_per_row(), 2), " documents per training row\n")
                      : "",
                  report.rules_version ? concat("made by version ", *report.rules_version, " of the rules\n") : "");
}

}  // namespace bertpretrain
