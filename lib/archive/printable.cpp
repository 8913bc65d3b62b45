#include "archive/printable.h"

#include "core/concat.h"
#include "core/output/displayable.h"
#include "core/strings.h"

namespace bertpretrain {

std::string printable(std::string_view text, std::size_t longest) {
    const std::string out = displayable(text.substr(0, longest));
    return text.size() > longest ? out + "..." : out;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
    return concat("[", join(sizes), "]");
}

}  // namespace bertpretrain
