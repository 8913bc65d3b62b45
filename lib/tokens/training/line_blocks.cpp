#include "tokens/training/line_blocks.h"

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {

bool LineBlocks::next(std::string& block) {
    block.resize(block_bytes_);
    in_.read(block.data(), static_cast<std::streamsize>(block_bytes_));
    block.resize(static_cast<std::size_t>(in_.gcount()));
    for (char c; in_.good() && block.back() != '\n' && in_.get(c); block.push_back(c))
        if (block.size() >= block_bytes_ + longest_line)
            throw DataError(concat(name_, ": a line is longer than ", bytes_text(longest_line),
                                   "; expected text with one sentence per line"));
    if (in_.bad()) throw DataError(concat(name_, ": reading failed before the end of the file"));
    return !block.empty();
}

}  // namespace bertpretrain
