#include "text/formats/text_chunks.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

constexpr std::size_t text_chunk_bytes = std::size_t{1} << 20;

}  // namespace

TextChunks::TextChunks(std::unique_ptr<Content> content, std::string name, std::string unit, bool checks_utf8, std::string advice)
    : content_(std::make_unique<TextContent>(std::move(content), checks_utf8 ? std::optional<Utf8Check>(name) : std::nullopt)),
      name_(std::move(name)),
      unit_(std::move(unit)),
      advice_(std::move(advice)) {}

/// Reads until `least` bytes are pending; returns false when the file ends before.
bool TextChunks::fill(std::size_t least) {
    std::size_t filled = pending_.size();
    if (filled < least) pending_.resize(least);
    while (filled < least && !ended_) {
        const std::size_t count = content_->read(pending_.data() + filled, least - filled);
        filled += count;
        ended_ = count == 0;
    }
    pending_.resize(filled);
    return filled >= least;
}

void TextChunks::skip_unit(char separator, TextChunk& chunk) {
    chunk = {{}, line_, true};
    for (bool is_whole = false; !is_whole && !pending_.empty(); fill(text_chunk_bytes)) {
        const std::size_t end = pending_.find(separator);
        is_whole = end != std::string::npos;
        const auto next = is_whole ? pending_.begin() + static_cast<std::ptrdiff_t>(end) + 1 : pending_.end();
        line_ += static_cast<std::uint64_t>(std::count(pending_.begin(), next, '\n'));
        pending_.erase(pending_.begin(), next);
    }
}

bool TextChunks::next(TextChunk& chunk, const WholeUnits& whole_units) {
    fill(text_chunk_bytes);
    while (!pending_.empty()) {
        const std::size_t size = whole_units(pending_, ended_);
        if (size > 0) {
            std::string rest = pending_.substr(size);
            pending_.resize(size);
            chunk = {std::exchange(pending_, std::move(rest)), line_, false};
            line_ += static_cast<std::uint64_t>(std::count(chunk.text.begin(), chunk.text.end(), '\n'));
            return true;
        }
        if (pending_.size() >= largest_unit + text_chunk_bytes && separator_) {
            skip_unit(*separator_, chunk);
            return true;
        }
        if (pending_.size() >= largest_unit + text_chunk_bytes)
            throw DataError(concat(name_, ":", line_, ": a ", unit_, " that begins here is larger than ", largest_unit >> 20,
                                   " MiB", advice_));
        fill(std::min(2 * pending_.size(), largest_unit + text_chunk_bytes));  // twice, so that units are searched in linear time
    }
    return false;
}

std::size_t whole_lines(std::string_view text, bool ended) { return ended ? text.size() : text.rfind('\n') + 1; }

std::size_t whole_blocks(std::string_view text, bool ended) {
    if (ended) return text.size();
    for (std::size_t end = text.rfind('\n'); end != std::string_view::npos && end > 0;) {
        const std::size_t before = text.rfind('\n', end - 1), begin = before == std::string_view::npos ? 0 : before + 1;
        if (is_blank_line(text.substr(begin, end - begin))) return end + 1;
        end = before;
    }
    return 0;
}

}  // namespace bertpretrain
