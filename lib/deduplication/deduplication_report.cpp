#include "deduplication/deduplication_report.h"

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/output/table.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<DuplicateExample>& examples) {
    Json list = Json::array();
    for (const DuplicateExample& example : examples)
        list.push_back({{"removed", example.removed},
                        {"removed_source", example.removed_source},
                        {"removed_text", example.removed_begin},
                        {"kept", example.kept},
                        {"kept_source", example.kept_source},
                        {"kept_text", example.kept_begin},
                        {"jaccard", example.jaccard}});
    return list;
}

std::string text_of_pairs(const std::string& title, const std::vector<DuplicateExample>& examples) {
    if (examples.empty()) return "";
    std::string text = concat("\n", title, ":\n");
    for (const DuplicateExample& example : examples)
        text += concat("  removed ", example.removed_source, ": ", example.removed_begin, "\n  kept    ", example.kept_source,
                       ": ", example.kept_begin, "\n          Jaccard ", fixed(example.jaccard, 3), "\n");
    return text;
}

std::string count_text(std::uint64_t count) { return with_thousands(static_cast<std::int64_t>(count)); }

}  // namespace

std::string report_json(const DeduplicationReport& report) {
    Json json;
    json["read"] = {{"documents", report.documents}, {"sentences", report.sentences}, {"bytes", report.text_bytes}};
    json["removed"] = {{"equal_documents", report.equal_documents},
                       {"near_duplicates", report.near_duplicates},
                       {"sentences", report.removed_sentences},
                       {"emptied_documents", report.emptied_documents}};
    json["kept"] = {{"documents", report.kept_documents}, {"sentences", report.kept_sentences}, {"bytes", report.kept_bytes}};
    json["clusters"] = {{"count", report.clusters}, {"largest", report.largest_cluster}};
    json["repeated_sentences"] = report.repeated_sentences;
    json["settings"] = {{"near", report.near},
                        {"threshold", report.threshold},
                        {"expected_recall_at_threshold", report.share_at_threshold},
                        {"shingle_words", report.shingle_words},
                        {"sentence_limit", report.sentence_limit}};
    Json sentences = Json::array();
    for (const SentenceExample& example : report.sentence_examples)
        sentences.push_back({{"times", example.times}, {"sentence", example.sentence}, {"first", example.first_source}});
    json["examples"] = {{"equal_documents", json_of(report.equal_examples)},
                        {"near_duplicates", json_of(report.near_examples)},
                        {"sentences", sentences}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string report_text(const DeduplicationReport& report) {
    Table table({"deduplicated", "documents", "sentences", "bytes"});
    table.add({"read", count_text(report.documents), count_text(report.sentences), count_text(report.text_bytes)});
    table.add({"equal to an earlier one", count_text(report.equal_documents), "", ""});
    if (report.near) table.add({"near-duplicates", count_text(report.near_duplicates), "", ""});
    if (report.sentence_limit > 0)
        table.add({"repeated sentences", count_text(report.emptied_documents), count_text(report.removed_sentences), ""});
    table.add({"kept", count_text(report.kept_documents), count_text(report.kept_sentences), count_text(report.kept_bytes)});
    std::string text = table.text();
    text += concat(count_text(report.clusters), " clusters of duplicates, the largest of ", count_text(report.largest_cluster),
                   " documents\n");
    text += text_of_pairs("Equal documents", report.equal_examples);
    text += text_of_pairs("Near-duplicates", report.near_examples);
    if (!report.sentence_examples.empty()) text += "\nRepeated sentences, of which the first place was kept:\n";
    for (const SentenceExample& example : report.sentence_examples)
        text += concat("  ", count_text(example.times), " times, first in ", example.first_source, ": ", example.sentence, "\n");
    return text;
}

}  // namespace bertpretrain
