#include "summaries.h"

#include <iostream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/output/log.h"
#include "core/output/table.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

void print(const ExtractCounts& counts) {
    Table table({"extracted", ""});
    table.add({"documents", with_thousands(counts.pages)});
    table.add({"documents kept", with_thousands(counts.articles)});
    table.add({"redirects", with_thousands(counts.redirects)});
    table.add({"other namespaces", with_thousands(counts.other_pages)});
    table.add({"too short", with_thousands(counts.short_articles)});
    table.add({"malformed records", with_thousands(counts.bad_records)});
    table.add({"sentences", with_thousands(counts.sentences)});
    table.add({"bytes read", with_thousands(static_cast<std::int64_t>(counts.bytes_read))});
    table.add({"bytes written", with_thousands(static_cast<std::int64_t>(counts.bytes_written))});
    table.add({"seconds", fixed(counts.seconds, 1)});
    std::cout << table.text();
}

void print_as_json(const ExtractCounts& counts) {
    nlohmann::ordered_json json;
    for_each_count(counts, [&](const char* key, const auto& number) { json[key] = number; });
    json["seconds"] = counts.seconds;
    std::cout << json.dump() << std::endl;
}

double masked_share(const ShardTotals& totals) { return static_cast<double>(totals.masked) / static_cast<double>(totals.tokens); }
double mean_length(const ShardTotals& totals) { return static_cast<double>(totals.tokens) / static_cast<double>(totals.rows); }

/// The fraction counts articles: where few are long, what is held out may be several times more text.
void warn_of_share(const Manifest& manifest) {
    const auto held_out = static_cast<double>(shard_totals(manifest, ShardKind::held_out).tokens),
               training = static_cast<double>(shard_totals(manifest, ShardKind::training).tokens),
               asked = manifest.settings.held_out_fraction;
    const double share = held_out / (held_out + training);
    if (held_out == 0 || training == 0 || (share < 2 * asked && share > asked / 2)) return;
    log_warning(concat("the held-out shards have ", fixed(100 * share, 1), " % of the tokens: --held-out-fraction ", asked,
                       " counts articles, and theirs differ in length",
                       "\n  do: use smaller documents (--documents lines), another --seed, or another fraction"));
}

void print(const ShardBuildReport& report) {
    Table table({"part", "shards", "rows", "tokens", "masked", "mean length"});
    for (const auto& [name, kind] : {std::pair("training", ShardKind::training), std::pair("held out", ShardKind::held_out)})
        if (const ShardTotals sums = shard_totals(report.manifest, kind); sums.shards > 0)
            table.add({name, with_thousands(sums.shards), with_thousands(sums.rows), with_thousands(sums.tokens),
                       fixed(100 * masked_share(sums), 2) + " %", fixed(mean_length(sums), 1)});
    std::cout << table.text();
    if (report.articles > 0)
        std::cout << with_thousands(static_cast<std::int64_t>(report.articles)) << " articles, " << bytes_text(report.text_bytes)
                  << " of text in " << duration_text(report.seconds) << " ("
                  << fixed(static_cast<double>(report.text_bytes) / 1e6 / report.seconds, 2) << " MB/s), ";
    std::cout << "unigram cross-entropy " << fixed(report.manifest.unigram_cross_entropy, 4) << " nats\n";
}

void print_as_json(const ShardBuildReport& report) {
    nlohmann::ordered_json json;
    if (report.articles > 0)
        json = {{"articles", report.articles}, {"text_bytes", report.text_bytes}, {"seconds", report.seconds}};
    json["unigram_cross_entropy"] = report.manifest.unigram_cross_entropy;
    for (const auto& [name, kind] : {std::pair("training", ShardKind::training), std::pair("held_out", ShardKind::held_out)})
        if (const ShardTotals sums = shard_totals(report.manifest, kind); sums.shards > 0)
            json[name] = {{"shards", sums.shards},
                          {"rows", sums.rows},
                          {"tokens", sums.tokens},
                          {"masked_share", masked_share(sums)},
                          {"mean_length", mean_length(sums)}};
    std::cout << json.dump() << std::endl;
}

}  // namespace

void print_summary(const ExtractCounts& counts, bool json) {
    if (json) print_as_json(counts);
    else print(counts);
}

void print_summary(const ShardBuildReport& report, bool json) {
    if (json) print_as_json(report);
    else print(report);
    warn_of_share(report.manifest);
}

}  // namespace bertpretrain
