#include "shards/build/token_spill.h"

#include <algorithm>

namespace bertpretrain {
namespace {

/// Total size of all groups' buffers, unless there are very many groups.
constexpr std::size_t open_bytes = std::size_t{32} << 20;

std::size_t block_words_for(std::size_t groups) {
    const std::size_t bytes =
        std::clamp(open_bytes / std::max<std::size_t>(groups, 1), std::size_t{4} << 10, std::size_t{256} << 10);
    return bytes / sizeof(std::int32_t);
}

}  // namespace

TokenSpill::TokenSpill(const std::filesystem::path& folder, std::size_t groups)
    : file_(folder), block_words_(block_words_for(groups)), groups_(groups) {}

void TokenSpill::add(std::size_t number, std::span<const std::int32_t> words) {
    Group& group = groups_[number];
    group.words += words.size();
    while (!words.empty()) {
        const std::size_t part = std::min(words.size(), block_words_ - group.open.size());
        group.open.insert(group.open.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(part));
        words = words.subspan(part);
        if (group.open.size() == block_words_) write_block(group);
    }
}

void TokenSpill::write_block(Group& group) {
    group.blocks.push_back(file_.append(group.open.data(), group.open.size() * sizeof(std::int32_t)));
    group.open.clear();
}

void TokenSpill::finish() {
    for (Group& group : groups_) {
        if (!group.open.empty()) write_block(group);
        group.open.shrink_to_fit();
    }
    file_.flush();
}

Documents TokenSpill::read(std::size_t number) const {
    const Group& group = groups_[number];
    std::vector<std::int32_t> words(group.words);
    for (std::size_t b = 0; b < group.blocks.size(); ++b) {
        const std::size_t begin = b * block_words_, count = std::min(block_words_, words.size() - begin);
        file_.read_at(group.blocks[b], words.data() + begin, count * sizeof(std::int32_t));
    }
    Documents documents;
    documents.reserve(words.size(), 0, 0);
    const std::span<const std::int32_t> all(words);
    for (std::size_t at = 0; at < all.size();) {
        documents.begin_document(static_cast<std::uint32_t>(all[at]));
        const std::int32_t sentences = all[at + 1];
        at += 2;
        for (std::int32_t s = 0; s < sentences; ++s) {
            const auto length = static_cast<std::size_t>(all[at]);
            documents.add_sentence(all.subspan(at + 1, length));
            at += 1 + length;
        }
    }
    return documents;
}

ArticleWords::ArticleWords(std::vector<std::int32_t>& words, std::uint32_t article) : words_(words), begin_(words.size()) {
    words_.push_back(static_cast<std::int32_t>(article));
    words_.push_back(0);
}

void ArticleWords::finish() {
    if (words_[begin_ + 1] == 0) words_.resize(begin_);
}

}  // namespace bertpretrain
