#include "shards/build/article_contents.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/random.h"
#include "core/threads/threads.h"
#include "deduplication/word_hashes.h"

namespace bertpretrain {
namespace {

std::uint64_t key_of(const ContentHash& hash, PhiloxKey seed_key) {
    const PhiloxCounter mixed =
        philox(seed_key, {static_cast<std::uint32_t>(hash.low), static_cast<std::uint32_t>(hash.low >> 32),
                          static_cast<std::uint32_t>(hash.high), static_cast<std::uint32_t>(hash.high >> 32)});
    return std::uint64_t{mixed[1]} << 32 | mixed[0];
}

/// Returns the keys of one part's articles, in order.
std::vector<std::uint64_t> keys_of_part(const TextArticles& articles, const TextPart& part, PhiloxKey seed_key) {
    const std::string text = articles.read(part);
    WordHashes hashes;
    ContentHash content;
    std::vector<std::uint64_t> keys;
    bool is_open = false;
    const auto close = [&] {
        if (is_open) keys.push_back(key_of(content, seed_key));
        is_open = false;
        content = {};
    };
    for_each_sentence(text, [&](std::string_view sentence) {
        if (sentence.empty()) return close();
        is_open = true;
        hashes.for_each(sentence, [&](std::uint64_t word) { content.add(word); });
    });
    close();
    if (keys.size() != part.articles)
        throw DataError(concat(articles.file(part).string(), ": was changed while it was being read"));
    return keys;
}

}  // namespace

std::vector<std::uint64_t> content_keys(const TextArticles& articles, std::uint64_t seed, std::size_t threads) {
    const PhiloxKey seed_key = philox_key(seed, Purpose::held_out_split);
    std::vector<std::uint64_t> keys(articles.size());
    for_each_index(articles.parts().size(), threads, [&](std::size_t p) {
        const TextPart& part = articles.parts()[p];
        const std::vector<std::uint64_t> own = keys_of_part(articles, part, seed_key);
        std::copy(own.begin(), own.end(), keys.begin() + part.first_article);
    });
    return keys;
}

}  // namespace bertpretrain
