#pragma once
// The texts whose vectors a file has.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "archive/vector_origin.h"
#include "text/formats/input_settings.h"

namespace bertpretrain {

/// Returns some of the texts that `embed` makes vectors of, by their rows.
/// @param inputs that were embedded, in their order  @param rows,origin of the vectors  @param wanted row numbers from 0
/// @throws DataError when the input has another number of texts than there are rows, or other texts than the origin records; also
/// errors of prepare_embed_inputs(), which needs a folder for temporary files
std::map<std::int64_t, std::string> texts_of_rows(const std::vector<std::filesystem::path>& inputs, const InputSettings& settings,
                                                  std::int64_t rows, const VectorOrigin& origin,
                                                  const std::set<std::int64_t>& wanted, std::size_t threads);

}  // namespace bertpretrain
