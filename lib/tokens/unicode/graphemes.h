#pragma once
// Grapheme clusters: the characters of a text as its readers see them.

#include <cstddef>
#include <string_view>

namespace bertpretrain {

/// Returns the end of the extended grapheme cluster (UAX #29, Unicode 17) that begins at `begin`, in bytes. It equals that of
/// tokenizers 0.23 for clusters of up to five bytes, the only ones that its normalizers look at.
/// @param text valid UTF-8  @param begin less than text.size(), the begin of a cluster
std::size_t grapheme_end(std::string_view text, std::size_t begin);

}  // namespace bertpretrain
