#pragma once
// All that an extracted text depends on, so that processes that make parts of it, or go on with it, can tell whether it is the
// same.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "text/reader/extract_settings.h"
#include "text/reader/extracted_part.h"

namespace bertpretrain {

/// @param bytes of each file
ExtractedPart::Request request_of(const ExtractSettings& settings, const std::vector<std::filesystem::path>& files,
                                  const std::vector<std::uint64_t>& bytes);

/// The same with the times at which local files were last changed. Empty if a file cannot be read again.
ExtractedPart::Request request_on_this_host(const ExtractSettings& settings, const std::vector<std::filesystem::path>& files);

}  // namespace bertpretrain
