#pragma once
// Counts the words of documents, as input for vocabulary training.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "text/formats/input_settings.h"
#include "tokens/definition/tokenizer_definition.h"
#include "tokens/models/words.h"

namespace bertpretrain {

/// Distinct words with their counts.
using WordCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// Counts the words of documents line by line, split by WordReader, on `threads` threads. The order of the result depends only on
/// the set of words, not on the number of threads. Memory: the distinct words, plus tens of megabytes per thread.
/// @param inputs files, folders of them, or "-"  @param settings how they are read, but not how sentences are split
/// @throws ConfigError, DataError like DocumentReader
WordCounts count_words(const std::vector<std::filesystem::path>& inputs, Casing casing, std::size_t threads,
                       const InputSettings& settings = {});

/// The same for byte-level BPE, whose words keep case, accents and the space before them. Each line counts as the continuation of
/// a text, with a space before it, because `shard` tokenizes all sentences but an article's first like that.
/// @param model normalizes and splits the text
WordCounts count_byte_level_words(const std::vector<std::filesystem::path>& inputs, const BytePairModel& model,
                                  std::size_t threads, const InputSettings& settings = {});

/// The same of whole documents as they are written, with their line ends and indentation, as `shard --keep-white-space` tokenizes
/// them.
WordCounts count_kept_byte_level_words(const std::vector<std::filesystem::path>& inputs, const BytePairModel& model,
                                       std::size_t threads, const InputSettings& settings = {});

}  // namespace bertpretrain
