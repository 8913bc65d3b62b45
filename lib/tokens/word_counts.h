#pragma once
// How often each word stands in a text: all that vocabulary training needs to know of it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tokens/words.h"

namespace bertpretrain {

/// Each word once, with its count.
using WordCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// Counts the words (as WordReader finds them) of UTF-8 text files, on `threads` threads; each line stands alone. The order of
/// the words depends on nothing but them.
/// Memory: the distinct words, and for each thread some tens of megabytes. @throws DataError when a file cannot be read
WordCounts count_words(const std::vector<std::filesystem::path>& files, Casing casing, std::size_t threads);

}  // namespace bertpretrain
