#include "deduplication/fingerprints.h"

#include <span>
#include <string_view>

#include "core/concat.h"

namespace bertpretrain {
namespace {

constexpr std::string_view line_blanks = " \t\r\v\f";

class BlockReader {
public:
    BlockReader(const DocumentBlock& block, const FingerprintSettings& settings) : block_(block), settings_(settings) {}

    std::vector<DocumentFingerprint> run() {
        std::uint64_t number = block_.first_line;
        for (std::string_view rest = block_.text; !rest.empty(); ++number) {
            const std::size_t end = rest.find('\n');
            add_line(rest.substr(0, end), number);
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        }
        end_document();
        return std::move(documents_);
    }

private:
    void add_line(std::string_view line, std::uint64_t number) {
        const std::size_t first = line.find_first_not_of(line_blanks);
        if (first == std::string_view::npos) return end_document();
        line = line.substr(first, line.find_last_not_of(line_blanks) + 1 - first);
        if (lines_ == 0) {
            open_ = {};
            open_.source = concat(block_.file, ":", number);
            words_.clear();
        }
        const std::size_t words_before = words_.size();
        hashes_.append(line, words_);
        if (settings_.sentences && words_.size() > words_before)
            open_.sentences.push_back({content_hash(std::span(words_).subspan(words_before)).high, 0, lines_});
        open_.text.append(line) += '\n';
        ++lines_;
    }

    void end_document() {
        if (lines_ == 0) return;
        lines_ = 0;
        open_.has_words = !words_.empty();
        if (open_.has_words) {
            open_.content = content_hash(words_);
            if (settings_.min_hash != nullptr) {
                hash_shingles(words_, settings_.shingle_words, shingles_);
                settings_.min_hash->append_keys(shingles_, open_.bands);
            }
        }
        documents_.push_back(std::move(open_));
    }

    const DocumentBlock& block_;
    const FingerprintSettings& settings_;
    WordHashes hashes_;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> shingles_;
    DocumentFingerprint open_;
    std::uint32_t lines_ = 0;  ///< of the open document
    std::vector<DocumentFingerprint> documents_;
};

}  // namespace

std::vector<DocumentFingerprint> fingerprints_of(const DocumentBlock& block, const FingerprintSettings& settings) {
    return BlockReader(block, settings).run();
}

}  // namespace bertpretrain
