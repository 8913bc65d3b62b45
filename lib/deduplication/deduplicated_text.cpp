#include "deduplication/deduplicated_text.h"

#include <string_view>

namespace bertpretrain {

void DeduplicatedText::leave_out(const SentencePlace& place) {
    write_until(place.document);
    left_out_.push_back(place.line);
}

void DeduplicatedText::finish() { write_until(documents_.size()); }

void DeduplicatedText::write_until(std::uint32_t end) {
    for (; next_ < end; ++next_) {
        if (is_kept_(next_)) write(next_);
        left_out_.clear();
        progress_.advance();
    }
}

void DeduplicatedText::write(std::uint32_t document) {
    const StoredDocument stored = documents_.read(document);
    auto left_out = left_out_.begin();
    std::uint32_t line = 0;
    std::uint64_t sentences = 0;
    for (std::string_view rest = stored.text; !rest.empty(); ++line) {
        const std::string_view sentence = rest.substr(0, rest.find('\n') + 1);
        rest.remove_prefix(sentence.size());
        if (left_out != left_out_.end() && *left_out == line) {
            ++left_out;
            ++counts_.removed_sentences;
            continue;
        }
        out_.write(sentence.data(), static_cast<std::streamsize>(sentence.size()));
        counts_.kept_bytes += sentence.size();
        ++sentences;
    }
    if (sentences == 0) {
        ++counts_.emptied_documents;
        return;
    }
    out_ << '\n';
    ++counts_.kept_bytes;
    ++counts_.kept_documents;
    counts_.kept_sentences += sentences;
}

}  // namespace bertpretrain
