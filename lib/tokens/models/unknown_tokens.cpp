#include "tokens/models/unknown_tokens.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/concat.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_example_characters = 40;

std::string beginning_of(std::string_view text) {
    std::size_t end = 0;
    for (std::size_t characters = 0; end < text.size() && characters < most_example_characters; ++characters)
        next_code_point(text, end);
    return displayable(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

bool is_one_character(std::string_view token) {
    std::size_t end = 0;
    next_code_point(token, end);
    return end == token.size();
}

}  // namespace

void UnknownTokens::add(std::span<const std::int32_t> ids, std::string_view text, const SpecialIds& specials) {
    if (specials.unk == SpecialIds::none) {
        tokens += std::ssize(ids);
        return;
    }
    const std::int64_t before = unknown;
    for (const std::int32_t id : ids) {
        if (id == specials.cls || id == specials.sep || id == specials.pad || id == specials.mask) continue;
        ++tokens;
        unknown += id == specials.unk ? 1 : 0;
    }
    if (unknown > before && example.empty()) example = beginning_of(text);
}

void UnknownTokens::add(const UnknownTokens& later) {
    tokens += later.tokens;
    unknown += later.unknown;
    if (example.empty()) example = later.example;
}

bool has_letters_only(const Vocabulary& vocabulary) {
    if (vocabulary.has_own_rules()) return false;
    std::int64_t letters = 0, others = 0;
    for (const std::string& token : vocabulary.tokens()) {
        if (std::ranges::find(special_tokens, std::string_view(token)) != std::end(special_tokens)) continue;
        (is_one_character(token) ? letters : others) += 1;
    }
    return letters > 0 && 10 * others <= letters;
}

std::size_t length_of_kmers(const Vocabulary& vocabulary) {
    std::map<std::size_t, std::int64_t> of_length;
    std::set<char> alphabet;
    std::int64_t all = 0;
    for (const std::string& token : vocabulary.tokens()) {
        if (token.starts_with('[')) continue;
        ++all;
        if (!std::ranges::all_of(token, [](char c) { return is_ascii_letter(c); })) continue;
        ++of_length[token.size()];
        alphabet.insert(token.begin(), token.end());
    }
    const auto most = std::ranges::max_element(of_length, {}, [](const auto& one) { return one.second; });
    if (most == of_length.end() || most->first < 2 || alphabet.size() > 26) return 0;
    return 10 * most->second >= 9 * all ? most->first : 0;
}

std::string cause_of_unknown(const Vocabulary& vocabulary) {
    if (has_letters_only(vocabulary))
        return "the vocabulary's tokens are single letters, but the text's words are longer\n  do: put a space after each letter "
               "(`--letters apart` of bertpretrain_data)";
    if (const std::size_t k = length_of_kmers(vocabulary); k > 0)
        return concat("the vocabulary's tokens are k-mers, words of ", k,
                      " letters, but the text's words are not\n  do: write the ",
                      "k-mers of each sequence with spaces between them (data_tools/OWN_TEXT.md, \"Overlapping k-mers\")");
    return "the vocabulary does not fit the text\n  do: check that it is one for this language, and for text with case and "
           "accents; "
           "or train one on the text (`bertpretrain_data vocabulary`)";
}

std::optional<std::string> warning_of_unknown(const UnknownTokens& found, const Vocabulary& vocabulary) {
    if (found.share() <= few_unknown) return std::nullopt;
    return concat(with_thousands(found.unknown), " of the ", with_thousands(found.tokens), " tokens are [UNK], for example in \"",
                  found.example, "\": ", cause_of_unknown(vocabulary));
}

}  // namespace bertpretrain
