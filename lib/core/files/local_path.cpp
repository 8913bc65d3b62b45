#include "core/files/local_path.h"

#include <regex>
#include <system_error>

#include "core/concat.h"

namespace bertpretrain {

std::string not_local(const std::string& path) {
    static const std::regex address("^[A-Za-z][A-Za-z0-9+.-]+:/.*");  // also s3:/x, what programs make of s3://x
    if (path.empty()) return "is empty, expected a path\n  do: check that the shell variable in it is set";
    if (std::regex_match(path.substr(0, path.find_first_of("\r\n")), address))
        return "is an address, expected a local path\n  do: give a path on this machine, and copy files from or to the address "
               "with its own tools (checkpoint.mirror does that for checkpoints)";
    if (path == "~" || path.starts_with("~/"))
        return "begins with ~, which only a shell expands, and only at the start of a word\n  do: write $HOME, or the whole path";
    if (path.ends_with('\r'))
        return "ends with a carriage return\n  do: give the script that contains it Linux's line ends, for example with dos2unix";
    return "";
}

std::string start_of_relative(const std::filesystem::path& path) {
    if (path.is_absolute()) return "";
    std::error_code unknown;
    return concat(". A relative path starts at the current folder, ", std::filesystem::current_path(unknown).string());
}

}  // namespace bertpretrain
