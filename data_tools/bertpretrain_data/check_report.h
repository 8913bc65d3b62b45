#pragma once
// The report of `check` as a table, as JSON and as an HTML page.

#include <string>

#include "shards/shard_checker.h"

namespace bertpretrain {

/// Returns a table with a row per shard and the totals, then the numbers of duplicates and the unigram cross-entropy.
std::string check_table(const FolderReport& report);

/// Returns one JSON object with everything; histograms contain only entries that are not 0.
std::string check_json(const FolderReport& report, const std::string& folder);

/// Returns a self-contained HTML page with the tables, the problems and pictures of the histograms.
std::string check_page(const FolderReport& report, const std::string& folder);

}  // namespace bertpretrain
