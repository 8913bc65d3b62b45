#include "tokens/line_blocks.h"

#include "core/error.h"

namespace bertpretrain {

bool LineBlocks::next(std::string& block) {
    block.resize(block_bytes_);
    in_.read(block.data(), static_cast<std::streamsize>(block_bytes_));
    block.resize(static_cast<std::size_t>(in_.gcount()));
    if (in_.good() && block.back() != '\n') {
        std::string rest;
        if (std::getline(in_, rest)) block += rest;
        if (!in_.eof()) block += '\n';
    }
    if (in_.bad()) throw DataError(concat(name_, ": cannot be read to its end"));
    return !block.empty();
}

}  // namespace bertpretrain
