#pragma once
// A file that only grows, by whole lines.

#include <filesystem>
#include <string_view>

namespace bertpretrain {

/// Appends lines; each is handed to the system before append() returns, so a killed process loses none. One writer at a time.
class LineFile {
public:
    /// Opens or makes the file; a last line without its end, left by a crash, is cut off. @throws DataError
    explicit LineFile(std::filesystem::path file);
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;
    ~LineFile();

    /// @param line without its "\n"
    /// @throws DataError naming the file and the system's reason; the file then holds no part of the line
    void append(std::string_view line);

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int handle_ = -1;
};

}  // namespace bertpretrain
