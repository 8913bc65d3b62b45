#include "tokens/models/text_normalizer.h"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "text/utf8.h"
#include "tokens/models/words.h"
#include "tokens/unicode/huggingface_unicode.h"
#include "tokens/unicode/spaces.h"
#include "tokens/unicode/unicode.h"

namespace bertpretrain {
namespace {

// append() appends a text after one step; is_unchanged() says whether that only copies.

using FormStep = std::shared_ptr<const UnicodeNormalizer>;
bool is_unchanged(const FormStep& form, std::string_view text) { return form->is_normal(text); }
void append(const FormStep& form, std::string_view text, std::string& out) { form->append(text, out); }

bool is_unchanged(LowerCase, std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return ascii_lower(c) != c || static_cast<signed char>(c) < 0; });
}
void append(LowerCase, std::string_view text, std::string& out) {
    for (std::size_t i = 0; i < text.size();) {
        const char32_t c = next_code_point(text, i);
        if (c == 0x0130) out += "i\xCC\x87";  // the only character with two in lower case: a capital I with a dot
        else append_code_point(out, lower_case(c, TokenRules::huggingface));
    }
}

bool is_unchanged(StrippedMarks, std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return static_cast<signed char>(c) < 0; });
}
void append(StrippedMarks, std::string_view text, std::string& out) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t begin = i;
        if (!huggingface::is_stripped_mark(next_code_point(text, i))) out.append(text, begin, i - begin);
    }
}

bool is_unchanged(const ReplacedText& step, std::string_view text) { return text.find(step.text) == std::string_view::npos; }
void append(const ReplacedText& step, std::string_view text, std::string& out) {
    for (std::size_t found = 0; (found = text.find(step.text)) != std::string_view::npos;) {
        out.append(text.substr(0, found)).append(step.replacement);
        text.remove_prefix(found + step.text.size());
    }
    out += text;
}

bool is_unchanged(const PrependedText&, std::string_view text) { return text.empty(); }
void append(const PrependedText& step, std::string_view text, std::string& out) { out.append(step.text).append(text); }

using MatchesStep = std::shared_ptr<const CompiledMatches>;
bool is_unchanged(const MatchesStep&, std::string_view text) { return text.empty(); }
void append(const MatchesStep& step, std::string_view text, std::string& out) {
    std::string classes;
    std::size_t done = 0;
    step->pattern.for_each_match(text, classes, [&](std::size_t begin, std::size_t end) {
        out.append(text, done, begin - done).append(step->replacement);
        done = end;
    });
    out.append(text, done);
}

std::string_view stripped(const StrippedEnds& step, std::string_view text) {
    const std::size_t end = step.right ? without_spaces_before(text, text.size()) : text.size();
    const std::size_t begin = step.left ? past_spaces(text.substr(0, end), 0) : 0;
    return text.substr(begin, end - begin);
}
bool is_unchanged(const StrippedEnds& step, std::string_view text) { return stripped(step, text).size() == text.size(); }
void append(const StrippedEnds& step, std::string_view text, std::string& out) { out += stripped(step, text); }

bool is_unchanged(const BertNormalization&, std::string_view text) { return text.empty(); }
void append(const BertNormalization& step, std::string_view text, std::string& out) {
    out += WordReader(step.casing, TokenRules::huggingface, step.splits_ideographs).normalized(text);
}

using MapStep = std::shared_ptr<const PrecompiledMap>;
bool is_unchanged(const MapStep& map, std::string_view text) { return map->is_unchanged(text); }
void append(const MapStep& map, std::string_view text, std::string& out) { map->append(text, out); }

}  // namespace

TextNormalizer::TextNormalizer(const std::vector<Normalization>& steps, const std::string& where) {
    const auto add = [&](const auto& step) {
        using StepType = std::decay_t<decltype(step)>;
        if constexpr (std::is_same_v<StepType, UnicodeForm>) steps_.emplace_back(std::make_shared<const UnicodeNormalizer>(step));
        else if constexpr (std::is_same_v<StepType, ReplacedMatches>)
            steps_.emplace_back(
                std::make_shared<const CompiledMatches>(CompiledMatches{SplitPattern(step.pattern, where), step.replacement}));
        else steps_.emplace_back(step);
    };
    for (const Normalization& step : steps) std::visit(add, step);
}

std::string_view TextNormalizer::apply(std::string_view text, std::string& memory) const {
    for (const Step& step : steps_) {
        const auto run = [&](const auto& one) {
            if (is_unchanged(one, text)) return;
            std::string changed;
            append(one, text, changed);
            memory.swap(changed);
            text = memory;
        };
        std::visit(run, step);
    }
    return text;
}

}  // namespace bertpretrain
