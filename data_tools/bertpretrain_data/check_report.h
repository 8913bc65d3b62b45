#pragma once
// What `check` found, for people, programs and browsers.

#include <string>

#include "shards/shard_checker.h"

namespace bertpretrain {

/// A row per shard, the sums, and what is repeated.
std::string check_table(const FolderReport& report);

/// One JSON object with everything but the histograms' empty ends.
std::string check_json(const FolderReport& report, const std::string& folder);

/// An HTML page with the tables, the problems and the histograms as pictures; it refers to no other file.
std::string check_page(const FolderReport& report, const std::string& folder);

}  // namespace bertpretrain
