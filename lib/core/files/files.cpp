#include "core/files/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/random_access_file.h"
#include "core/files/temporary_file.h"

namespace bertpretrain {
namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
    if (std::error_code ignored; fs::is_directory(file, ignored))
        throw DataError(concat(file.string(), ": cannot be read: it is a folder, expected a file\n  do: name a file in it"));
    if (std::error_code ignored; fs::is_fifo(file, ignored))
        throw DataError(concat(file.string(), ": is a pipe, expected a file, which can be read more than once",
                               "\n  do: write its content into a file first"));
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in) throw DataError(concat(file.string(), ": cannot be read (", std::strerror(errno), ")"));
    std::string content(static_cast<std::size_t>(in.tellg()), '\0');
    in.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size()));
    if (!in) throw DataError(concat(file.string(), ": cannot be read to its end (", std::strerror(errno), ")"));
    return content;
}

void write_atomically_at(const fs::path& file, const std::function<void(const fs::path& partial)>& write) {
    fs::path partial = file;
    partial += ".partial";
    std::error_code failure;
    try {
        write(partial);
        flush_to_disk(partial);
        fs::rename(partial, file, failure);
        if (failure)
            throw DataError(concat(file.string(), ": cannot be renamed from its .partial file (", failure.message(), ")"));
    } catch (...) {
        fs::remove(partial, failure);
        throw;
    }
    flush_to_disk(file.has_parent_path() ? file.parent_path() : fs::path("."));
}

void write_atomically(const fs::path& file, const std::function<void(std::ostream&)>& write) {
    write_atomically_at(file, [&](const fs::path& partial) {
        errno = 0;
        std::ofstream out(partial, std::ios::binary | std::ios::trunc);
        if (out) write(out);
        out.flush();
        if (!out) throw DataError(failed_write(file, errno));
    });
}

void write_atomically(const fs::path& file, std::string_view content) {
    write_atomically(file, [&](std::ostream& out) { out << content; });
}

void flush_to_disk(const fs::path& file_or_folder) {
    const int handle = ::open(file_or_folder.c_str(), O_RDONLY | O_CLOEXEC);
    const bool flushed = handle >= 0 && flush_handle(handle);
    const int reason = errno;
    if (handle >= 0) ::close(handle);
    if (!flushed)
        throw DataError(concat(file_or_folder.string(), ": cannot be flushed to the disk (", std::strerror(reason), ")",
                               disk_advice(reason)));
}

void make_writable_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure)
        throw ConfigError(
            concat(folder.string(), ": cannot create this folder (", failure.message(), "); choose another with --output"));
    if (!fs::is_directory(folder))
        throw ConfigError(concat(folder.string(), ": is a file, expected a folder; choose another with --output"));
    try {
        TemporaryFile probe(folder);  // under a name that no other file has
        probe.append("probe", 5);
        probe.flush();
    } catch (const DataError& error) {
        throw ConfigError(
            concat(folder.string(), ": cannot write into this folder; check its permissions and free space\n  ", error.what()));
    }
}

std::vector<fs::path> list_files(const fs::path& folder, const std::vector<std::string>& endings) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (const fs::path& file : folder_entries(folder, failure)) {
        const std::string name = file.filename().string();
        const bool wanted =
            std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) { return name.ends_with(ending); });
        std::error_code gone;
        if (wanted && fs::is_regular_file(file, gone)) files.push_back(file);
    }
    if (failure) throw DataError(concat(folder.string(), ": cannot be listed (", failure.message(), ")"));
    std::sort(files.begin(), files.end());
    return files;
}

std::uint32_t crc32_of_file(const fs::path& file) { return RandomAccessFile(file).crc32(); }

std::vector<fs::path> folder_entries(const fs::path& folder, std::error_code& failure) {
    std::vector<fs::path> entries;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
        entries.push_back(entry->path());
    return entries;
}

}  // namespace bertpretrain
