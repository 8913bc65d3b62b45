#pragma once
// Expands Slurm's compressed host lists.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// "gpu[01-03,7],login" -> gpu01, gpu02, gpu03, gpu7, login. A name may contain several pairs of brackets.
/// @param most maximum number of names returned
/// @returns the names that could be parsed; a name with unbalanced brackets is skipped
std::vector<std::string> expand_hosts(std::string_view list, std::size_t most);

}  // namespace bertpretrain
