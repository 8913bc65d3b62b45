#include "deduplication/fingerprints.h"

#include <cstring>
#include <span>
#include <string_view>

#include "core/concat.h"

namespace bertpretrain {
namespace {

/// "FILE:LINE ID", as far as they are known.
std::string source_of(const std::string& file, const Document& document) {
    return concat(file, document.line > 0 ? concat(":", document.line) : "", document.id.empty() ? "" : " ", document.id);
}

/// The hash of a text without words, of which eight bytes count as one. The size follows, so that zeros at the end count, too.
ContentHash hash_of_bytes(std::string_view text) {
    std::vector<std::uint64_t> numbers(text.size() / sizeof(std::uint64_t) + 2, text.size());
    std::memcpy(numbers.data(), text.data(), text.size());
    return content_hash(numbers);
}

class FingerprintMaker {
public:
    explicit FingerprintMaker(const FingerprintSettings& settings) : settings_(settings) {}

    DocumentFingerprint of(std::string source, std::string text) {
        DocumentFingerprint made;
        made.source = std::move(source);
        made.text = std::move(text);
        words_.clear();
        std::uint32_t number = 0;
        for (std::string_view rest = made.text; !rest.empty(); ++number) {
            const std::size_t end = rest.find('\n'), words_before = words_.size();
            hashes_.append(rest.substr(0, end), words_);
            if (settings_.sentences && words_.size() > words_before)
                made.sentences.push_back({content_hash(std::span(words_).subspan(words_before)).high, 0, number});
            rest.remove_prefix(end + 1);
        }
        made.content = words_.empty() ? hash_of_bytes(made.text) : content_hash(words_);
        if (!words_.empty() && settings_.min_hash != nullptr) {
            hash_shingles(words_, settings_.shingle_words, shingles_);
            settings_.min_hash->append_keys(shingles_, made.bands);
        }
        return made;
    }

private:
    const FingerprintSettings& settings_;
    WordHashes hashes_;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> shingles_;
};

}  // namespace

std::vector<DocumentFingerprint> fingerprints_of(const DocumentBatch& batch, const FingerprintSettings& settings) {
    FingerprintMaker maker(settings);
    std::vector<DocumentFingerprint> fingerprints;
    for (const Document& document : batch.documents)
        if (!document.text.empty()) fingerprints.push_back(maker.of(source_of(batch.file, document), document.text));
    return fingerprints;
}

}  // namespace bertpretrain
