#pragma once
// Counts the words of text files, as input for vocabulary training.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tokens/words.h"

namespace bertpretrain {

/// Distinct words with their counts.
using WordCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// Counts the words of UTF-8 text files line by line, split by WordReader, on `threads` threads. The order of the result
/// depends only on the set of words, not on the number of threads.
/// Memory: the distinct words, plus tens of megabytes per thread. @throws DataError if a file cannot be read
WordCounts count_words(const std::vector<std::filesystem::path>& files, Casing casing, std::size_t threads);

}  // namespace bertpretrain
