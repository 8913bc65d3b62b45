#pragma once
// A file that only grows, by whole lines.

#include <filesystem>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Appends lines; each is handed to the system before append() returns, so a killed process loses none. One writer at a time.
/// A line that the system does not take (a full disk) is kept, with one warning, and written before the next one.
class LineFile {
public:
    /// Opens or makes the file; a last line without its end, left by a crash, is cut off.
    /// @throws DataError also where there is no regular file: a device or pipe of that name would drop the lines or block
    explicit LineFile(std::filesystem::path file);
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;
    ~LineFile();

    /// @param line without its "\n"
    /// @throws DataError naming the file and the system's reason when more than most_kept bytes are kept; the file holds whole
    ///         lines
    void append(std::string_view line);

    /// Tries once more to write what is kept, and keeps nothing after it.
    /// @throws DataError naming the file, the system's reason and how many lines are lost
    void finish();

    static constexpr std::size_t most_kept = std::size_t{4} << 20;

    const std::filesystem::path& path() const { return path_; }

private:
    bool write_kept();

    std::filesystem::path path_;
    std::string kept_;  ///< lines that are to be written
    bool is_behind_ = false;
    int handle_ = -1;
};

}  // namespace bertpretrain
