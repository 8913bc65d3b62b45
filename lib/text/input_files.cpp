#include "text/input_files.h"

#include <algorithm>

#include "core/error.h"
#include "text/byte_source.h"

namespace bertpretrain {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    try {
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            if (entry.is_regular_file()) files.push_back(entry.path());
    } catch (const fs::filesystem_error& error) {
        throw DataError(concat(folder.string(), ": cannot be listed (", error.code().message(), "); nothing has been written"));
    }
    if (files.empty()) throw DataError(concat(folder.string(), ": is a folder without files; nothing has been written"));
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

std::vector<fs::path> input_files(const std::vector<fs::path>& inputs) {
    if (inputs.empty()) throw ConfigError("no dump given; pass at least one .xml or .xml.bz2 file");
    std::vector<fs::path> files;
    for (const fs::path& input : inputs) {
        if (input == standard_input) {
            if (std::count(files.begin(), files.end(), standard_input) > 0)
                throw ConfigError("standard input (-) is given twice, but can be read only once");
            files.push_back(input);
        } else if (fs::is_directory(input)) {
            for (fs::path& file : files_below(input)) files.push_back(std::move(file));
        } else if (fs::exists(input)) {
            files.push_back(input);
        } else {
            throw DataError(concat(input.string(), ": does not exist; nothing has been written"));
        }
    }
    return files;
}

std::uint64_t bytes_of(const std::vector<fs::path>& files) {
    std::uint64_t bytes = 0;
    for (const fs::path& file : files) {
        if (!fs::is_regular_file(file)) return 0;
        bytes += fs::file_size(file);
    }
    return bytes;
}

}  // namespace bertpretrain
