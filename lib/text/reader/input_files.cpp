#include "text/reader/input_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "core/error.h"
#include "core/files/local_path.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "storage/remote_address.h"
#include "storage/remote_object.h"
#include "text/content/byte_source.h"
#include "text/reader/extracted_part.h"
#include "text/reader/input_names.h"
#include "text/reader/remote_inputs.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {
namespace fs = std::filesystem;
namespace {

/// Refuses a link to a folder on the way to it, which would be followed without an end. @param top where the way begins
void refuse_loop(const fs::path& link, const fs::path& top) {
    const fs::path target = fs::canonical(link), end = top.has_filename() ? top : top.parent_path();  // "corpus" of "corpus/"
    for (fs::path place = link; place != end && place.has_relative_path();) {
        place = place.parent_path();
        const fs::path folder = fs::canonical(place.empty() ? "." : place);
        if (std::mismatch(target.begin(), target.end(), folder.begin(), folder.end()).first == target.end())
            throw DataError(concat(link.string(), ": is a link to a folder that it lies in, ", target.string(),
                                   "; nothing has been written\n  do: remove it"));
    }
}

void warn_of_unfinished(const fs::path& folder, const std::vector<fs::path>& unfinished) {
    if (unfinished.empty()) return;
    log_warning(
        concat(folder.string(), ": ", unfinished.front().string(),
               unfinished.size() > 1 ? concat(" and ", unfinished.size() - 1, " more are") : " is",
               " not read, because the name marks what is not finished\n  do: let the program that writes it end, or run ",
               "it again if it was interrupted; what is complete all the same needs another name"));
}

/// Links to files and folders are followed.
std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files, unfinished;
    try {
        for (fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink), end; entry != end;
             ++entry) {
            const std::string name = entry->path().filename().string();
            const bool is_hidden = is_hidden_input(name);
            const bool is_unfinished = !is_hidden && is_unfinished_input(name);
            if (is_unfinished) unfinished.push_back(entry->path());
            if ((is_hidden || is_unfinished) && entry->is_directory()) entry.disable_recursion_pending();
            else if (is_unfinished) continue;
            else if (!is_hidden && entry->is_regular_file() && !is_lineage_record(name)) files.push_back(entry->path());
            else if (!is_hidden && entry->is_symlink() && !entry->exists())
                throw DataError(concat(entry->path().string(), ": is a link to a file that is missing, ",
                                       fs::read_symlink(entry->path()).string(), "; nothing has been written\n  do: remove it"));
            else if (!is_hidden && entry->is_symlink() && entry->is_directory()) refuse_loop(entry->path(), folder);
        }
    } catch (const fs::filesystem_error& error) {
        throw DataError(concat(folder.string(), ": cannot be listed (", error.code().message(), "); nothing has been written"));
    }
    warn_of_unfinished(folder, unfinished);
    if (files.empty()) throw DataError(concat(folder.string(), ": is a folder without files; nothing has been written"));
    std::sort(files.begin(), files.end());
    return files;
}

/// A file that is given twice would count twice, under one path or two.
void refuse_repeated(const std::vector<fs::path>& files) {
    std::map<std::pair<dev_t, ino_t>, fs::path> seen;
    std::set<std::string> addresses;
    for (const fs::path& file : files) {
        if (is_remote_address(file.string()) && !addresses.insert(file.string()).second)
            throw ConfigError(concat(file.string(), ": is given twice; its text would count double"));
        struct stat facts {};
        if (file == standard_input || ::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        const auto [earlier, is_new] = seen.try_emplace({facts.st_dev, facts.st_ino}, file);
        if (is_new) continue;
        throw ConfigError(concat(file.string(), ": is given twice", earlier->second == file ? "" : ", also as ",
                                 earlier->second == file ? "" : earlier->second.string(), "; its text would count double"));
    }
}

/// The parts of a text that is not joined are not the text: some may be missing.
void refuse_parts(const std::vector<fs::path>& files) {
    for (const fs::path& file : files)
        if (const std::optional<fs::path> text = text_with_part(file))
            throw DataError(
                concat(file.string(), ": belongs to a part of ", text->string(),
                       ", whose parts have not been joined; nothing has been written\n  do: make all parts, and then run ",
                       "`bertpretrain_data join ", text->string(), "`, or move them away"));
}

/// Returns the type of an input: a folder, a file or another thing. @throws DataError when there is none, or the system refuses
/// it
fs::file_type type_of(const fs::path& input) {
    std::error_code failure;
    const fs::file_type type = fs::status(input, failure).type();
    if (type != fs::file_type::none && type != fs::file_type::not_found) return type;
    constexpr std::size_t most_shown = 200;  // of a line of --inputs-from that is no name
    const std::string name = input.string(),
                      shown = displayable(name.substr(0, most_shown)) + (name.size() > most_shown ? "..." : "");
    if (type == fs::file_type::none)
        throw DataError(concat(shown, ": cannot be read (", failure.message(), "); nothing has been written"));
    const std::string why = not_local(name);
    throw DataError(concat(shown, ": ", why.empty() ? "does not exist; nothing has been written" : why));
}

}  // namespace

std::vector<fs::path> input_files(const std::vector<fs::path>& inputs) {
    if (inputs.empty()) throw ConfigError("no input given; pass at least one file or folder");
    std::vector<fs::path> files;
    for (const fs::path& input : inputs) {
        if (input == standard_input) {
            if (std::count(files.begin(), files.end(), standard_input) > 0)
                throw ConfigError("standard input (-) is given twice, but can be read only once");
            files.push_back(input);
        } else if (is_remote_address(input.string())) {
            for (fs::path& object : remote_inputs(input.string())) files.push_back(std::move(object));
        } else if (type_of(input) == fs::file_type::directory) {
            for (fs::path& file : files_below(input)) files.push_back(std::move(file));
        } else {
            files.push_back(input);
        }
    }
    refuse_repeated(files);
    refuse_parts(files);
    for (const fs::path& file : files) require_whole_text(file);
    return files;
}

std::uint64_t bytes_of(const std::vector<fs::path>& files) {
    std::uint64_t bytes = 0;
    for (const fs::path& file : files) {
        if (is_remote_address(file.string())) bytes += object_size(file.string());
        else if (fs::is_regular_file(file)) bytes += fs::file_size(file);
        else return 0;
    }
    return bytes;
}

}  // namespace bertpretrain
