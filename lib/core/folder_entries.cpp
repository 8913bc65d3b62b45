#include "core/folder_entries.h"

namespace bertpretrain {
namespace fs = std::filesystem;

std::vector<fs::path> folder_entries(const fs::path& folder, std::error_code& failure) {
    std::vector<fs::path> entries;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
        entries.push_back(entry->path());
    return entries;
}

}  // namespace bertpretrain
