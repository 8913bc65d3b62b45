#pragma once
// An append-only file of whole lines.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Each line is passed to the kernel before append() returns, so a killed process loses none. If that fails (a full disk),
/// lines are kept in memory, after one warning, and written before the next one. Not thread-safe; one writer per file.
class LineFile {
public:
    /// Opens or creates the file. Removes an incomplete last line, which a crash can leave.
    /// @throws DataError if the file cannot be opened or is not a regular file: a device or pipe would drop lines or block
    explicit LineFile(std::filesystem::path file);
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;
    ~LineFile();

    /// @param line without its "\n"
    /// @throws DataError with the file and the system's reason if more than most_kept bytes are kept. The file still contains
    ///         whole lines only.
    void append(std::string_view line);

    /// Tries to write the kept lines. Warns once if the path no longer leads to the open file. @returns whether none is left
    bool retry();

    /// Tries once more to write the kept lines, then discards them.
    /// @throws DataError with the file, the system's reason and the number of lines lost
    void finish();

    static constexpr std::size_t most_kept = std::size_t{4} << 20;

    const std::filesystem::path& path() const { return path_; }

private:
    bool write_kept();
    void warn_if_replaced();

    std::filesystem::path path_;
    std::string kept_;  ///< lines still to be written
    bool is_behind_ = false, is_replaced_ = false;
    int handle_ = -1;
};

/// Calls visit(line) for each whole line of a file, without its "\n", until it returns false. Holds one line in memory at a time.
/// @throws DataError when the file cannot be read
void for_each_whole_line(const std::filesystem::path& file, const std::function<bool(const std::string&)>& visit);

}  // namespace bertpretrain
