#include "tokens/models/vocabulary_casing.h"

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "text/utf8.h"
#include "tokens/models/words.h"
#include "tokens/unicode/unicode.h"
#include "tokens/vocabulary/vocabulary_record.h"

namespace bertpretrain {
namespace {

bool is_in_brackets(std::string_view token) { return token.size() > 2 && token.starts_with('[') && token.ends_with(']'); }

std::string_view without_continuation(std::string_view token) {
    return token.starts_with("##") && token.size() > 2 ? token.substr(2) : token;
}

/// Returns the text as a reader without case and accents reads it.
std::string uncased(WordReader& reader, std::string_view text) {
    std::string all;
    reader.start(text);
    for (std::string_view word = reader.next(); !word.empty(); word = reader.next()) all += word;
    return all;
}

struct Letters {
    bool have_case = false, have_capital = false;
};

Letters letters_of(std::string_view text) {
    Letters found;
    for (std::size_t i = 0; i < text.size();) {
        const char32_t c = next_code_point(text, i);
        found.have_case = found.have_case || is_cased(c);
        found.have_capital = found.have_capital || lower_case(c, TokenRules::huggingface) != c;
    }
    return found;
}

}  // namespace

bool TokenCasing::is_cased() const { return capitals * 20 >= tokens; }
bool TokenCasing::is_uncased() const { return letters * 20 >= tokens && cased_only * 200 < tokens; }

TokenCasing casing_of(const Vocabulary& vocabulary) {
    TokenCasing found;
    WordReader reader(Casing::uncased, TokenRules::huggingface);
    for (const std::string& token : vocabulary.tokens()) {
        if (is_in_brackets(token)) continue;
        const std::string_view text = without_continuation(token);
        const Letters letters = letters_of(text);
        ++found.tokens;
        found.letters += letters.have_case;
        if (uncased(reader, text) == text) continue;
        ++found.cased_only;
        found.capitals += letters.have_capital;
    }
    return found;
}

Casing choose_casing(const Vocabulary& vocabulary, const std::filesystem::path& file, bool wants_cased) {
    if (const auto own = vocabulary.own_casing()) {
        if (wants_cased) refuse_for_own_rules("--cased", file, vocabulary.kind());
        return *own;
    }
    if (const auto recorded = recorded_casing(file)) {
        if (wants_cased && *recorded == Casing::uncased)
            throw ConfigError(concat(file.string(), ": is recorded as uncased beside it, which --cased contradicts",
                                     "\n  do: omit --cased, or use a cased vocabulary"));
        return *recorded;
    }
    const TokenCasing found = casing_of(vocabulary);
    if (!wants_cased) {
        if (found.is_cased()) return Casing::cased;
        if (found.cased_only * 20 >= found.tokens)
            log_warning(concat(file.string(), ": ", with_thousands(found.cased_only), " of its ", with_thousands(found.tokens),
                               " tokens have accents or capital letters, which uncased text never has; if it is a cased "
                               "vocabulary, use --cased"));
        return Casing::uncased;
    }
    if (found.is_uncased())
        throw ConfigError(concat(file.string(), ": is an uncased vocabulary: ", with_thousands(found.cased_only), " of its ",
                                 with_thousands(found.tokens),
                                 " tokens have capital letters or accents, so that words with them would become [UNK]",
                                 "\n  do: omit --cased, or use a cased vocabulary"));
    return Casing::cased;
}

void refuse_for_own_rules(const std::string& option, const std::filesystem::path& file, TokenizerKind kind) {
    throw ConfigError(concat(option, " applies to ", kind_name(TokenizerKind::token_list), ", but ", file.string(), " is ",
                             kind_name(kind), ", which has its own rules\n  do: leave the option out"));
}

std::string casing_name(Casing casing) { return casing == Casing::cased ? "cased" : "uncased"; }

}  // namespace bertpretrain
