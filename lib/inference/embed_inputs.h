#pragma once
// Several inputs of `embed`, or a folder of them, as one.

#include <cstddef>
#include <filesystem>
#include <vector>

#include "inference/embed_input.h"

namespace bertpretrain {

/// Returns prepare_embed_input() of a single file. The texts of several files, in the order in which `shard` reads them
/// (input_files.h), become one file of records: FOLDER/texts, with FOLDER/ids. Without a field for ids, the n-th text of FILE has
/// the id "FILE:n", from 1; records of FASTA have their names. Logs a warning where some of the files are empty.
/// @param inputs files, folders of them, addresses and "-"; at least one  @param asks_for_fields whether a text or id field was
/// named
/// @throws ConfigError, DataError like input_files() and prepare_embed_input()
EmbedInput prepare_embed_inputs(const std::vector<std::filesystem::path>& inputs, const InputSettings& settings,
                                bool asks_for_fields, const std::filesystem::path& folder, std::size_t threads);

}  // namespace bertpretrain
