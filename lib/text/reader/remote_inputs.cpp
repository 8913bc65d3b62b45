#include "text/reader/remote_inputs.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "storage/hub_dataset.h"
#include "storage/object_store.h"
#include "storage/remote_object.h"
#include "text/reader/input_names.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// @param name relative to the folder that was given
bool is_left_out(std::string_view name) {
    if (name.empty() || name.ends_with('/') || is_lineage_record(name)) return true;  // a slash: what consoles make as a folder
    for (;;) {
        const std::size_t slash = name.find('/');
        if (is_hidden_input(name.substr(0, slash)) || is_unfinished_input(name.substr(0, slash))) return true;
        if (slash == name.npos) return false;
        name.remove_prefix(slash + 1);
    }
}

/// An object of a list, by its whole address.
void add_object(const std::string& address, std::uint64_t bytes, std::vector<fs::path>& found) {
    learn_object_size(address, bytes);
    found.emplace_back(address);
}

std::vector<fs::path> objects_of_bucket(const RemoteAddress& folder) {
    std::vector<fs::path> found;
    for (const auto& [key, bytes] : ObjectStore(folder.store).list(folder.key))
        if (!is_left_out(std::string_view(key).substr(folder.key.size())))
            add_object(concat(folder.store.text(), "/", key), bytes, found);
    return found;
}

std::vector<fs::path> files_of_dataset(const HubAddress& folder) {
    std::string path = folder.path;
    if (!path.empty() && !path.ends_with('/')) path += '/';
    std::vector<fs::path> found;
    for (const auto& [file, bytes] : list_hub_files(folder)) {
        if (!file.starts_with(path) || file == "README.md" || is_left_out(std::string_view(file).substr(path.size()))) continue;
        HubAddress address = folder;
        address.path = file;
        add_object(address.text(), bytes, found);
    }
    return found;
}

std::vector<fs::path> sorted_files(std::vector<fs::path> files, const std::string& folder) {
    if (files.empty())
        throw DataError(concat(folder, ": has no objects to read; nothing has been written\n  do: check the address"));
    std::ranges::sort(files, [](const fs::path& a, const fs::path& b) {
        const int order = a.compare(b);  // of "a//b" and "a/b" 0
        return order != 0 ? order < 0 : a.native() < b.native();
    });
    return files;
}

}  // namespace

std::vector<fs::path> remote_inputs(const std::string& text) {
    const RemoteAddress address = parse_remote_address(text);
    RemoteObject object(address);
    if (is_hub_address(text)) {
        const HubAddress hub = parse_hub_address(text);
        const bool is_folder = hub.path.empty() || hub.path.ends_with('/');
        if (!is_folder && object.exists()) return {text};
        return sorted_files(files_of_dataset(hub), text);
    }
    if (!address.is_folder()) {
        object.bytes();  // refuses a missing one
        return {text};
    }
    if (address.store.kind == ObjectUrl::Kind::http)
        throw ConfigError(concat(text, ": is a folder of an HTTP server, which has no lists, expected a file's address",
                                 "\n  do: name each file"));
    return sorted_files(objects_of_bucket(address), text);
}

}  // namespace bertpretrain
