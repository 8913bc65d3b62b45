#pragma once
// Reads the XML with which S3 answers.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bertpretrain {

/// Returns the text of the first element of this name; "" where there is none or the text is no XML.
std::string xml_element(std::string_view xml, std::string_view name);

/// Returns the name of the outermost element; "" where the text is no XML.
std::string outermost_element(std::string_view xml);

/// Whether a request may succeed later that S3 answers with this error code, at any HTTP status.
bool is_passing_error(std::string_view code);

/// One page of ListObjectsV2.
struct ObjectList {
    std::vector<std::pair<std::string, std::uint64_t>> objects;  ///< keys and sizes
    std::string continuation;                                    ///< for the next page; empty: this is the last
};

/// @throws DistributedError when the text is not such a page, or does not say how the list goes on
ObjectList parse_object_list(std::string_view xml);

}  // namespace bertpretrain
