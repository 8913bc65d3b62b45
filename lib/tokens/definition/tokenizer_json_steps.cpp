#include "tokens/definition/tokenizer_json_steps.h"

#include <array>
#include <charconv>
#include <memory>

#include "core/base64.h"
#include "core/error.h"
#include "text/utf8.h"
#include "tokens/unicode/code_point_set.h"

namespace bertpretrain {
namespace {

constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// is_numeric() of Rust, whose Unicode 17 has two more ranges than oniguruma's.
constexpr const char* digit_pattern = R"([\p{N}\x{11DE0}-\x{11DE9}\x{16FF4}-\x{16FF6}])";

/// The pre-tokenizer Whitespace, \w+|[^\w\s]+ of Rust's regular expressions.
std::string word_or_marks_pattern() {
    const auto escaped_number = [](char32_t c) {
        std::array<char, 8> digits{};
        const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<std::uint32_t>(c), 16).ptr;
        return concat("\\x{", std::string(digits.begin(), end), "}");
    };
    std::string word = R"(\p{L}\p{M}\p{Nd})";
    for (const auto& [first, last] : rust_word_characters().ranges) word += escaped_number(first) + "-" + escaped_number(last);
    return concat("[", word, "]+|[^", word, "\\s]+");
}

[[noreturn]] void refuse_type(const JsonPart& part, const std::string& type, const char* supported) {
    part.refuse(concat("has the type ", type, ", which this program does not support; supported are ", supported));
}

std::shared_ptr<const PrecompiledMap> read_precompiled_map(const JsonPart& part) {
    const std::optional<std::string> bytes = decoded_base64(part.text());
    if (!bytes) part.refuse("is damaged, expected Base64");
    return std::make_shared<const PrecompiledMap>(*bytes, part.where());
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
    } else {
        if (type == "NFC") steps.emplace_back(UnicodeForm::nfc);
        else if (type == "NFD") steps.emplace_back(UnicodeForm::nfd);
        else if (type == "NFKC") steps.emplace_back(UnicodeForm::nfkc);
        else if (type == "NFKD") steps.emplace_back(UnicodeForm::nfkd);
        else if (type == "Lowercase") steps.emplace_back(LowerCase{});
        else if (type == "StripAccents") steps.emplace_back(StrippedMarks{});
        else
            refuse_type(part, type,
                        "NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Replace, Prepend, Strip, Precompiled and Sequence");
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

/// Adds one of the steps that both models have. @returns false for another one
bool add_common_split(const JsonPart& part, const std::string& type, std::vector<SplitStep>& steps) {
    if (type == "Split") {
        steps.push_back(read_split(part));
    } else if (type == "Digits") {
        part.allow({"type", "individual_digits"});
        const bool individual = part.at("individual_digits").flag();
        steps.push_back({.pattern = digit_pattern, .behavior = individual ? SplitBehavior::isolated : SplitBehavior::contiguous});
    } else if (type == "WhitespaceSplit") {
        part.allow({"type"});
        steps.push_back({.pattern = R"(\s)", .behavior = SplitBehavior::removed});
    } else if (type == "Whitespace") {
        part.allow({"type"});
        steps.push_back({.pattern = word_or_marks_pattern(), .behavior = SplitBehavior::removed, .inverted = true});
    } else {
        return false;
    }
    return true;
}

void add_byte_level_splits(const JsonPart& part, std::vector<SplitStep>& steps, bool& is_byte_level) {
    const std::string type = part.at("type").text();
    if (is_byte_level) part.refuse(concat("has the type ", type, " after ByteLevel, which must be the last step"));
    if (type == "Sequence") {
        part.allow({"type", "pretokenizers"});
        for (const JsonPart& step : part.at("pretokenizers").elements()) add_byte_level_splits(step, steps, is_byte_level);
    } else if (type == "ByteLevel") {
        part.allow({"type", "add_prefix_space", "trim_offsets", "use_regex"});
        const bool splits = part.flag("use_regex", true);
        steps.push_back({.add_prefix_space = part.at("add_prefix_space").flag(), .pattern = splits ? gpt2_pattern : ""});
        is_byte_level = true;
    } else if (!add_common_split(part, type, steps)) {
        refuse_type(part, type,
                    "Split, Digits, Whitespace, WhitespaceSplit, ByteLevel and Sequence for BPE, "
                    "BertPreTokenizer for WordPiece");
    }
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

void add_unigram_splits(const JsonPart& part, std::vector<SplitStep>& steps) {
    const std::string type = part.at("type").text();
    if (type == "Sequence") {
        part.allow({"type", "pretokenizers"});
        for (const JsonPart& step : part.at("pretokenizers").elements()) add_unigram_splits(step, steps);
    } else if (type == "Metaspace") {
        steps.push_back({.metaspace = read_metaspace(part)});
    } else if (!add_common_split(part, type, steps)) {
        refuse_type(part, type, "Metaspace, Split, Digits, Whitespace, WhitespaceSplit and Sequence for Unigram");
    }
}

}  // namespace

std::vector<Normalization> read_normalizations(const std::optional<JsonPart>& part) {
    std::vector<Normalization> steps;
    if (part) add_normalizations(*part, steps);
    return steps;
}

std::vector<SplitStep> read_byte_level_splits(const std::optional<JsonPart>& part) {
    std::vector<SplitStep> steps;
    bool is_byte_level = false;
    if (part) add_byte_level_splits(*part, steps, is_byte_level);
    return is_byte_level ? steps : std::vector<SplitStep>{};
}

std::vector<SplitStep> read_unigram_splits(const std::optional<JsonPart>& part) {
    std::vector<SplitStep> steps;
    if (part) add_unigram_splits(*part, steps);
    return steps;
}

BertNormalization read_bert_normalizer(const JsonPart& file) {
    const std::optional<JsonPart> part = file.find("normalizer");
    if (!part) file.refuse("normalizer is missing or null; this program supports only BertNormalizer for WordPiece");
    const std::string type = part->at("type").text();
    if (type != "BertNormalizer") refuse_type(*part, type, "BertNormalizer for WordPiece");
    part->allow({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    part->require("clean_text", true);
    const bool lowers = part->at("lowercase").flag(), strips = part->flag("strip_accents", lowers);
    return {casing_for(lowers, strips), part->flag("handle_chinese_chars", true)};
}

Casing casing_for(bool lowers, bool strips_accents) {
    if (lowers) return strips_accents ? Casing::uncased : Casing::uncased_with_accents;
    return strips_accents ? Casing::cased_without_accents : Casing::cased;
}

}  // namespace bertpretrain
