#pragma once
// Formats the results of `check` as a table, as JSON and as an HTML page.

#include <string>

#include "shards/check/shard_checker.h"

namespace bertpretrain {

/// Returns a table with a row per shard and the totals, followed by the counts of duplicates.
std::string check_table(const FolderReport& report);

/// Returns one JSON object with the whole report. Histograms omit zero counts.
std::string check_json(const FolderReport& report, const std::string& folder);

/// Returns a self-contained HTML page with the tables, the problems and the histograms as pictures.
std::string check_page(const FolderReport& report, const std::string& folder);

}  // namespace bertpretrain
