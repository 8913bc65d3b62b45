#pragma once
// Text in pieces that threads can work on: whole lines, about a mebibyte at a time.

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Reads a stream in blocks that end where a line ends. Not thread-safe.
class LineBlocks {
public:
    /// @param name what messages call the stream
    LineBlocks(std::istream& in, std::string name, std::size_t block_bytes = std::size_t{1} << 20)
        : in_(in), name_(std::move(name)), block_bytes_(block_bytes) {}

    /// Replaces `block` by the next lines, at least `block_bytes` of them where so many are left; their "\n" are included,
    /// save one that the last line lacks. @returns false at the end of the stream
    /// @throws DataError when reading fails, or when a line is longer than `longest_line`: that is no text of sentences
    bool next(std::string& block);

    static constexpr std::size_t longest_line = std::size_t{64} << 20;  ///< bytes behind a block's end; bounds the memory

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
