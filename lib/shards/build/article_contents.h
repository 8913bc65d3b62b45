#pragma once
// What an article says, as a number: equal articles have equal numbers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shards/build/text_articles.h"

namespace bertpretrain {

/// Returns a 64-bit key per article. It is a pseudo-random function of the seed and of the article's words in order; case,
/// punctuation and white space do not count, as for the equal documents of `deduplicate`. So it depends neither on the
/// article's place nor on the other articles. Reads all texts once; needs 8 bytes per article and a part of the text per thread.
/// @throws DataError if a text cannot be read or was changed
std::vector<std::uint64_t> content_keys(const TextArticles& articles, std::uint64_t seed, std::size_t threads);

}  // namespace bertpretrain
