#pragma once
// The steps that --steps names.

#include <cstdint>
#include <string>
#include <utility>

namespace bertpretrain {

/// Returns the first and the last step of "100:200"; of "100" alone, this step twice. @throws ConfigError
std::pair<std::int64_t, std::int64_t> step_range(const std::string& text);

}  // namespace bertpretrain
