#include "shards/sentence_pairs.h"

#include <algorithm>
#include <span>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr int tries_for_another_document = 10;

void append(Sentence& tokens, const Sentence& more) { tokens.insert(tokens.end(), more.begin(), more.end()); }

/// Sentences of a random other document, from a random one on, until there are `target` tokens.
/// @returns whether the document really is another one
bool append_random_segment(const std::vector<Document>& documents, std::size_t own, std::int64_t target, Dice& dice,
                           Sentence& b) {
    std::size_t other = own;
    for (int i = 0; i < tries_for_another_document && other == own; ++i)
        other = dice.below(static_cast<std::uint32_t>(documents.size()));
    const Document& source = documents[other];
    for (std::size_t s = dice.below(static_cast<std::uint32_t>(source.size())); s < source.size(); ++s) {
        append(b, source[s]);
        if (static_cast<std::int64_t>(b.size()) >= target) break;
    }
    return other != own;
}

/// Takes tokens off the longer part (B when equal), each from the front or the back, until `most` are left.
void truncate(std::span<const std::int32_t>& a, std::span<const std::int32_t>& b, std::size_t most, Dice& dice) {
    while (a.size() + b.size() > most) {
        auto& longer = a.size() > b.size() ? a : b;
        longer = dice.uniform() < 0.5 ? longer.subspan(1) : longer.first(longer.size() - 1);
    }
}

SentencePair assemble(std::span<const std::int32_t> a, std::span<const std::int32_t> b, const SpecialIds& special_ids) {
    SentencePair pair;
    pair.tokens.reserve(a.size() + b.size() + 3);
    pair.tokens.push_back(special_ids.cls);
    pair.tokens.insert(pair.tokens.end(), a.begin(), a.end());
    pair.tokens.push_back(special_ids.sep);
    pair.first_segment = static_cast<std::int32_t>(pair.tokens.size());
    pair.tokens.insert(pair.tokens.end(), b.begin(), b.end());
    pair.tokens.push_back(special_ids.sep);
    return pair;
}

}  // namespace

void build_pairs(const std::vector<Document>& documents, std::size_t document, const PairSettings& settings,
                 const SpecialIds& special_ids, Dice& dice, const std::function<void(SentencePair)>& emit) {
    check(settings.sequence_length >= 5, "a pair needs 5 tokens, has room for ", settings.sequence_length);
    const Document& sentences = documents[document];
    const std::int64_t most = settings.sequence_length - 3;
    std::int64_t target = most;
    if (dice.uniform() < settings.short_sequence_probability) target = 2 + dice.below(static_cast<std::uint32_t>(most - 1));

    std::size_t first = 0;  // of the sentences collected for the next pair
    std::int64_t length = 0;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        length += static_cast<std::int64_t>(sentences[i].size());
        if (i + 1 < sentences.size() && length < target) continue;

        const std::size_t collected = i + 1 - first;
        const std::size_t a_sentences = collected >= 2 ? 1 + dice.below(static_cast<std::uint32_t>(collected - 1)) : 1;
        Sentence a, b;
        for (std::size_t s = first; s < first + a_sentences; ++s) append(a, sentences[s]);
        bool is_random_next = false;
        if (collected == 1 || dice.uniform() < 0.5) {
            is_random_next = append_random_segment(documents, document, target - static_cast<std::int64_t>(a.size()), dice, b);
            i = first + a_sentences - 1;  // the sentences not used for A begin the next pair
        } else {
            for (std::size_t s = first + a_sentences; s <= i; ++s) append(b, sentences[s]);
        }
        std::span<const std::int32_t> a_left = a, b_left = b;
        truncate(a_left, b_left, static_cast<std::size_t>(most), dice);
        SentencePair pair = assemble(a_left, b_left, special_ids);
        pair.is_random_next = is_random_next;
        emit(std::move(pair));
        first = i + 1;
        length = 0;
    }
}

}  // namespace bertpretrain
