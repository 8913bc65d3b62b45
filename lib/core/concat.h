#pragma once

#include <sstream>
#include <string>

namespace bertpretrain {

/// Streams all arguments into one string.
template <class... Parts>
std::string concat(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

}  // namespace bertpretrain
