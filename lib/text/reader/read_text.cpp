#include "text/reader/read_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "text/content/byte_order_mark.h"
#include "text/content/byte_source.h"
#include "text/content/bytes_in_memory.h"
#include "text/content/encoded_content.h"
#include "text/content/open_content.h"
#include "text/content/text_content.h"
#include "text/formats/foreign_file.h"

namespace bertpretrain {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 16;

/// @param head the first bytes, enough for a byte order mark
std::unique_ptr<Content> as_text(std::unique_ptr<Content> content, const std::string& name, std::string_view head) {
    const std::string encoding(marked_encoding(head));
    if (encoding.empty() || encoding == "UTF-8")
        return std::make_unique<TextContent>(std::move(content), Utf8Check(name, Utf8Check::Remedy::conversion));
    return std::make_unique<TextContent>(
        std::make_unique<EncodedContent>(std::move(content), name, encoding, EncodedContent::NamedBy::mark));
}

/// Lines of text may begin with anything that is text, such as JSON.
void refuse_foreign_file(std::string_view head, const std::string& name) {
    std::optional<ForeignFile> found = foreign_file(head);
    if (!found) found = foreign_compression(head);
    if (!found && is_compressed(head)) found = known_file(head);
    if (found) throw DataError(refusal_of(name, *found, "uncompressed text"));
}

std::string all_of(Content& content) {
    std::string text;
    for (std::size_t filled = 0;; text.resize(filled)) {
        text.resize(filled + std::max(bytes_at_once, filled));
        const std::size_t count = content.read(text.data() + filled, text.size() - filled);
        filled += count;
        if (count > 0) continue;
        text.resize(filled);
        return text;
    }
}

}  // namespace

std::unique_ptr<Content> open_text(const std::filesystem::path& file) {
    auto source = std::make_unique<ByteSource>(file);
    const std::string name = source->name();
    if (file != standard_input) refuse_foreign_file(source->peek(foreign_head_bytes), name);
    std::string_view head;
    for (std::size_t size = 1; head.size() + 1 == size && could_begin_mark(head); ++size) head = source->peek(size);
    const std::string start(head);
    return as_text(plain_content(std::move(source)), name, start);
}

std::string read_text_file(const std::filesystem::path& file) { return all_of(*open_text(file)); }

std::string text_of_bytes(std::string_view bytes, const std::string& name) {
    refuse_foreign_file(bytes.substr(0, foreign_head_bytes), name);
    return all_of(*as_text(std::make_unique<BytesInMemory>(bytes), name, bytes.substr(0, mark_bytes)));
}

bool TextLines::next(std::string& line) {
    for (std::size_t searched = used_;;) {
        const std::size_t end = pending_.find('\n', searched);
        if (end != std::string::npos) {
            line.assign(pending_, used_, end - used_);
            used_ = end + 1;
            return true;
        }
        pending_.erase(0, std::exchange(used_, 0));
        searched = pending_.size();
        pending_.resize(searched + std::max(bytes_at_once, searched));
        const std::size_t count = content_->read(pending_.data() + searched, pending_.size() - searched);
        pending_.resize(searched + count);
        if (count > 0) continue;
        line = std::exchange(pending_, {});
        return !line.empty();
    }
}

}  // namespace bertpretrain
