#pragma once
// Slurm's way of writing many host names as one word.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// "gpu[01-03,7],login" -> gpu01, gpu02, gpu03, gpu7, login; brackets may stand several times in one name.
/// @param most stops after so many
/// @returns what could be understood; nothing of a name whose brackets are broken
std::vector<std::string> expand_hosts(std::string_view list, std::size_t most);

}  // namespace bertpretrain
