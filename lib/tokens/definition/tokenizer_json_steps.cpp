#include "tokens/definition/tokenizer_json_steps.h"

#include <array>
#include <charconv>
#include <memory>

#include "core/base64.h"
#include "core/error.h"
#include "text/utf8.h"
#include "tokens/unicode/code_point_set.h"
#include "tokens/unicode/unicode.h"

namespace bertpretrain {
namespace {

constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// is_numeric() of Rust, whose Unicode 17 has two more ranges than oniguruma's.
constexpr const char* digit_pattern = R"([\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}])";

/// Returns a range as a regular expression writes it within brackets.
std::string escaped_range(char32_t first, char32_t last) {
    const auto escaped_number = [](char32_t c) {
        std::array<char, 8> digits{};
        const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<std::uint32_t>(c), 16).ptr;
        return concat("\\x{", std::string(digits.begin(), end), "}");
    };
    return concat(escaped_number(first), "-", escaped_number(last));
}

/// The pre-tokenizer Whitespace, \w+|[^\w\s]+ of Rust's regular expressions.
std::string word_or_marks_pattern() {
    std::string word = R"(\p{L}\p{M}\p{Nd})";
    for (const auto& [first, last] : rust_word_characters().ranges) word += escaped_range(first, last);
    return concat("[", word, "]+|[^", word, "\\s]+");
}

/// A punctuation mark of BertPreTokenizer and Punctuation: ASCII's, and the category P of their Unicode version.
const std::string& punctuation_pattern() {
    static const std::string pattern = [] {
        constexpr char32_t code_points_of_unicode = 0x110000;
        const auto is_mark = [](char32_t c) { return character_kind(c, TokenRules::huggingface) == CharacterKind::punctuation; };
        std::string marks;
        for (char32_t c = 0; c < code_points_of_unicode; ++c) {
            if (!is_mark(c)) continue;
            const char32_t first = c;
            while (is_mark(c + 1)) ++c;
            marks += escaped_range(first, c);
        }
        return concat("[", marks, "]");
    }();
    return pattern;
}

[[noreturn]] void refuse_type(const JsonPart& part, const std::string& type, const char* supported) {
    part.refuse(concat("has the type ", type, ", which this program does not support; supported are ", supported));
}

std::shared_ptr<const PrecompiledMap> read_precompiled_map(const JsonPart& part) {
    const std::optional<std::string> bytes = decoded_base64(part.text());
    if (!bytes) part.refuse("is damaged, expected Base64");
    return std::make_shared<const PrecompiledMap>(*bytes, part.where());
}

BertNormalization read_bert_normalizer(const JsonPart& part) {
    part.allow({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    part.require("clean_text", true);
    const bool lowers = part.at("lowercase").flag(), strips = part.flag("strip_accents", lowers);
    return {casing_for(lowers, strips), part.flag("handle_chinese_chars", true)};
}

void add_normalizations(const JsonPart& part, std::vector<Normalization>& steps) {
    const std::string type = part.at("type").text();
    if (type == "Sequence") {
        part.allow({"type", "normalizers"});
        for (const JsonPart& step : part.at("normalizers").elements()) add_normalizations(step, steps);
    } else if (type == "Replace") {
        part.allow({"type", "pattern", "content"});
        const JsonPart pattern = part.at("pattern");
        pattern.allow({"String", "Regex"});
        const std::optional<JsonPart> literal = pattern.find("String");
        const std::string text = literal ? literal->text() : pattern.at("Regex").text(), content = part.at("content").text();
        if (text.empty()) part.refuse("replaces an empty text");
        if (literal) steps.emplace_back(ReplacedText{text, content});
        else steps.emplace_back(ReplacedMatches{text, content});
    } else if (type == "Prepend") {
        part.allow({"type", "prepend"});
        steps.emplace_back(PrependedText{part.at("prepend").text()});
    } else if (type == "Strip") {
        part.allow({"type", "strip_left", "strip_right"});
        steps.emplace_back(StrippedEnds{part.at("strip_left").flag(), part.at("strip_right").flag()});
    } else if (type == "Precompiled") {
        part.allow({"type", "precompiled_charsmap"});
        steps.emplace_back(read_precompiled_map(part.at("precompiled_charsmap")));
    } else if (type == "BertNormalizer") {
        steps.emplace_back(read_bert_normalizer(part));
    } else {
        if (type == "NFC") steps.emplace_back(UnicodeForm::nfc);
        else if (type == "NFD") steps.emplace_back(UnicodeForm::nfd);
        else if (type == "NFKC") steps.emplace_back(UnicodeForm::nfkc);
        else if (type == "NFKD") steps.emplace_back(UnicodeForm::nfkd);
        else if (type == "Lowercase") steps.emplace_back(LowerCase{});
        else if (type == "StripAccents") steps.emplace_back(StrippedMarks{});
        else
            refuse_type(part, type,
                        "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Replace, Prepend, Strip, Precompiled, BertNormalizer and "
                        "Sequence");
        part.allow({"type"});
    }
}

/// Returns a regular expression that matches `text` only.
std::string escaped(const std::string& text) {
    std::string expression;
    for (const char c : text) {
        if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) expression += '\\';
        expression += c;
    }
    return expression;
}

SplitBehavior read_behavior(const JsonPart& part) {
    const std::string name = part.text();
    if (name == "Isolated") return SplitBehavior::isolated;
    if (name == "Removed") return SplitBehavior::removed;
    if (name == "Contiguous") return SplitBehavior::contiguous;
    if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
    if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
    part.refuse(concat("is ", name, ", which is no behavior of Split"));
}

SplitStep read_split(const JsonPart& part) {
    part.allow({"type", "pattern", "behavior", "invert"});
    const JsonPart pattern = part.at("pattern");
    pattern.allow({"Regex", "String"});
    const std::optional<JsonPart> text = pattern.find("String");
    SplitStep step{.pattern = text ? escaped(text->text()) : pattern.at("Regex").text(),
                   .behavior = read_behavior(part.at("behavior")),
                   .inverted = part.flag("invert", false)};
    if (step.pattern.empty()) pattern.refuse("is empty");
    return step;
}

/// Reads a Metaspace. Files from before `prepend_scheme` have `add_prefix_space` in its place, and `str_rep`, which repeats the
/// sign.
Metaspace read_metaspace(const JsonPart& part) {
    part.allow({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"});
    Metaspace step{.replacement = part.at("replacement").text(), .splits = part.flag("split", true)};
    if (code_points_of(step.replacement).size() != 1 || step.replacement == " ")
        part.at("replacement").refuse(concat("is \"", step.replacement, "\", expected one character other than a space"));
    const bool adds = part.flag("add_prefix_space", true);
    const std::string scheme = part.text("prepend_scheme", adds ? "always" : "never");
    if (scheme == "first") step.prepend = Metaspace::Prepend::first;
    else if (scheme == "never") step.prepend = Metaspace::Prepend::never;
    else if (scheme != "always")
        part.at("prepend_scheme").refuse(concat("is \"", scheme, "\", expected \"always\", \"first\" or \"never\""));
    if (!adds && step.prepend != Metaspace::Prepend::never)
        part.refuse(concat("says add_prefix_space = false and prepend_scheme = \"", scheme, "\", which contradict each other"));
    return step;
}

SplitStep read_byte_level(const JsonPart& part) {
    part.allow({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    const bool splits = part.flag("use_regex", true);
    return {.add_prefix_space = part.at("add_prefix_space").flag(), .pattern = splits ? gpt2_pattern : ""};
}

/// Returns a step that drops one character between words.
SplitStep read_delimiter(const JsonPart& part) {
    part.allow({"type", "delimiter"});
    const std::string delimiter = part.at("delimiter").text();
    if (code_points_of(delimiter).size() != 1) part.refuse("delimiter is no single character");
    return {.pattern = escaped(delimiter), .behavior = SplitBehavior::removed};
}

void add_splits(const JsonPart& part, PreTokenizer& out) {
    const std::string type = part.at("type").text();
    if (out.is_byte_level) part.refuse(concat("has the type ", type, " after ByteLevel, which must be the last step"));
    std::vector<SplitStep>& steps = out.steps;
    if (type == "Sequence") {
        part.allow({"type", "pretokenizers"});
        for (const JsonPart& step : part.at("pretokenizers").elements()) add_splits(step, out);
    } else if (type == "ByteLevel") {
        steps.push_back(read_byte_level(part));
        out.is_byte_level = true;
    } else if (type == "Metaspace") {
        steps.push_back({.metaspace = read_metaspace(part)});
    } else if (type == "Split") {
        steps.push_back(read_split(part));
    } else if (type == "Digits") {
        part.allow({"type", "individual_digits"});
        const bool individual = part.at("individual_digits").flag();
        steps.push_back({.pattern = digit_pattern, .behavior = individual ? SplitBehavior::isolated : SplitBehavior::contiguous});
    } else if (type == "Punctuation") {
        part.allow({"type", "behavior"});
        const std::optional<JsonPart> behavior = part.find("behavior");
        steps.push_back(
            {.pattern = punctuation_pattern(), .behavior = behavior ? read_behavior(*behavior) : SplitBehavior::isolated});
    } else if (type == "CharDelimiterSplit") {
        steps.push_back(read_delimiter(part));
    } else {
        if (type == "Whitespace") {
            steps.push_back({.pattern = word_or_marks_pattern(), .behavior = SplitBehavior::removed, .inverted = true});
        } else if (type == "WhitespaceSplit" || type == "BertPreTokenizer") {
            steps.push_back({.pattern = R"(\s)", .behavior = SplitBehavior::removed});
            if (type == "BertPreTokenizer") steps.push_back({.pattern = punctuation_pattern()});
        } else {
            refuse_type(
                part, type,
                "Split, Digits, Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit, BertPreTokenizer, Metaspace, "
                "ByteLevel and Sequence");
        }
        part.allow({"type"});
    }
}

}  // namespace

std::vector<Normalization> read_normalizations(const std::optional<JsonPart>& part) {
    std::vector<Normalization> steps;
    if (part) add_normalizations(*part, steps);
    return steps;
}

PreTokenizer read_pre_tokenizer(const std::optional<JsonPart>& part) {
    PreTokenizer pre_tokenizer;
    if (part) add_splits(*part, pre_tokenizer);
    return pre_tokenizer;
}

Casing casing_for(bool lowers, bool strips_accents) {
    if (lowers) return strips_accents ? Casing::uncased : Casing::uncased_with_accents;
    return strips_accents ? Casing::cased_without_accents : Casing::cased;
}

}  // namespace bertpretrain
