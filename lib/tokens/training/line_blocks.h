#pragma once
// Splits a stream into blocks of whole lines, about 1 MiB each, for threads to process.

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Reads a stream in blocks that end where a line ends. Not thread-safe.
class LineBlocks {
public:
    /// @param in must outlive this object  @param name the stream's name in error messages
    LineBlocks(std::istream& in, std::string name, std::size_t block_bytes = std::size_t{1} << 20)
        : in_(in), name_(std::move(name)), block_bytes_(block_bytes) {}

    /// Replaces `block` with the next whole lines, at least `block_bytes` bytes unless the stream ends first. Includes each
    /// line's "\n", except where the last line has none. @returns false at the end of the stream
    /// @throws DataError if reading fails, or if a line extends more than `longest_line` past `block_bytes`
    bool next(std::string& block);

    static constexpr std::size_t longest_line = std::size_t{64} << 20;  ///< bytes beyond `block_bytes`; bounds the memory

private:
    std::istream& in_;
    std::string name_;
    std::size_t block_bytes_;
};

/// Calls visit(line) for every line of `block`, without its "\n".
template <class Visit>
void for_each_line(std::string_view block, Visit&& visit) {
    while (!block.empty()) {
        const std::size_t end = block.find('\n');
        visit(block.substr(0, end));
        block.remove_prefix(end == std::string_view::npos ? block.size() : end + 1);
    }
}

}  // namespace bertpretrain
