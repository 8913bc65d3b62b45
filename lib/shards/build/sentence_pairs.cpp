#include "shards/build/sentence_pairs.h"

#include <numeric>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr int tries_for_another_document = 10;

struct TokenRun {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
};

/// Returns sentences of a random other document, starting at a random sentence, until they have `target` tokens.
/// @param is_other set to whether the document differs from `own`
TokenRun random_segment(const Documents& documents, std::size_t own, std::int64_t target, Rng& rng, bool& is_other) {
    std::size_t other = own;
    for (int i = 0; i < tries_for_another_document && other == own; ++i)
        other = rng.below(static_cast<std::uint32_t>(documents.size()));
    is_other = other != own;
    const std::uint32_t first = documents.first_sentence(other), end = documents.first_sentence(other + 1);
    std::uint32_t s = first + rng.below(end - first);
    TokenRun run{documents.sentence_begin(s), documents.sentence_begin(s + 1)};
    while (++s < end && static_cast<std::int64_t>(run.size()) < target) run.end = documents.sentence_begin(s + 1);
    return run;
}

/// Removes tokens from the longer segment (B on ties), each at random from its front or its back, until `most` are left.
void truncate(TokenRun& a, TokenRun& b, std::size_t most, Rng& rng) {
    while (a.size() + b.size() > most) {
        TokenRun& longer = a.size() > b.size() ? a : b;
        if (rng.uniform() < 0.5) ++longer.begin;
        else --longer.end;
    }
}

}  // namespace

std::int64_t total_length(std::span<const SentencePair> pairs) {
    return std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0}, [](std::int64_t sum, const SentencePair& pair) {
        return sum + static_cast<std::int64_t>(pair.length());
    });
}

void build_pairs(const Documents& documents, std::size_t document, const PairSettings& settings, Rng& rng,
                 const std::function<void(const SentencePair&)>& emit) {
    check(settings.sequence_length >= 5 && settings.sequence_length <= 65'536, "a sequence has 5 to 65,536 tokens, not ",
          settings.sequence_length);
    const std::int64_t most = settings.sequence_length - 3;
    std::int64_t target = most;
    if (rng.uniform() < settings.short_sequence_probability) target = 2 + rng.below(static_cast<std::uint32_t>(most - 1));

    const std::uint32_t end = documents.first_sentence(document + 1);
    std::uint32_t first = documents.first_sentence(document);  // first sentence collected for the next pair
    for (std::uint32_t s = first; s < end; ++s) {
        const std::int64_t length = documents.sentence_begin(s + 1) - documents.sentence_begin(first);
        if (s + 1 < end && length < target) continue;

        const std::uint32_t collected = s + 1 - first;
        const std::uint32_t a_end = first + (collected >= 2 ? 1 + rng.below(collected - 1) : 1);
        TokenRun a{documents.sentence_begin(first), documents.sentence_begin(a_end)};
        TokenRun b{a.end, documents.sentence_begin(s + 1)};
        bool is_random_next = false;
        if (collected == 1 || rng.uniform() < 0.5) {
            b = random_segment(documents, document, target - static_cast<std::int64_t>(a.size()), rng, is_random_next);
            is_random_next = is_random_next || settings.same_document_counts_as_random;
            s = a_end - 1;  // the next pair starts with the sentences not used for A
        }
        truncate(a, b, static_cast<std::size_t>(most), rng);
        emit({static_cast<std::uint32_t>(a.begin), static_cast<std::uint32_t>(b.begin), static_cast<std::uint16_t>(a.size()),
              static_cast<std::uint16_t>(b.size()), is_random_next});
        first = s + 1;
    }
}

}  // namespace bertpretrain
