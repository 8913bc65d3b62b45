#include "deduplication/document_store.h"

#include <array>
#include <limits>

#include "core/error.h"

namespace bertpretrain {

void DocumentStore::add(std::string_view source, std::string_view text) {
    if (size_ == std::numeric_limits<std::uint32_t>::max())
        throw DataError(concat(source, ": more than 2^32 documents up to here; deduplicate parts of the corpus"));
    const std::array<std::uint64_t, 2> begins{text_.size(), text_.size() + source.size()};
    offsets_.append(begins.data(), sizeof begins);
    text_.append(source.data(), source.size());
    text_.append(text.data(), text.size());
    ++size_;
}

void DocumentStore::finish() {
    const std::uint64_t end = text_.size();
    offsets_.append(&end, sizeof end);
    text_.flush();
    offsets_.flush();
}

StoredDocument DocumentStore::read(std::uint32_t document) const {
    std::array<std::uint64_t, 3> offsets;
    offsets_.read_at(document * std::uint64_t{16}, offsets.data(), sizeof offsets);
    StoredDocument stored{std::string(offsets[1] - offsets[0], '\0'), std::string(offsets[2] - offsets[1], '\0')};
    text_.read_at(offsets[0], stored.source.data(), stored.source.size());
    text_.read_at(offsets[1], stored.text.data(), stored.text.size());
    return stored;
}

std::string DocumentStore::source_of(std::uint32_t document) const {
    std::array<std::uint64_t, 2> offsets;
    offsets_.read_at(document * std::uint64_t{16}, offsets.data(), sizeof offsets);
    std::string source(offsets[1] - offsets[0], '\0');
    text_.read_at(offsets[0], source.data(), source.size());
    return source;
}

}  // namespace bertpretrain
