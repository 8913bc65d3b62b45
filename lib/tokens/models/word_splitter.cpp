#include "tokens/models/word_splitter.h"

#include <algorithm>

namespace bertpretrain {
namespace {

/// Text that the regular expression matches, or text between two matches.
struct MatchedPart {
    std::size_t begin, end;
    bool is_match;
};

}  // namespace

WordSplitter::WordSplitter(const std::vector<SplitStep>& steps, const std::string& where) {
    for (const SplitStep& step : steps) {
        std::optional<SplitPattern> pattern;
        if (!step.pattern.empty()) pattern.emplace(step.pattern, where);
        steps_.push_back({step, std::move(pattern)});
    }
}

/// Returns the text with each space spelled as the step's sign. Source: pre_tokenizers/metaspace.rs of tokenizers.
std::string_view WordSplitter::with_signs(const Metaspace& step, std::string_view text, bool is_first, std::string& memory) {
    const bool has_sign = text.starts_with(step.replacement) || text.starts_with(' ');
    const bool may_prepend =
        step.prepend == Metaspace::Prepend::always || (step.prepend == Metaspace::Prepend::first && is_first);
    memory.assign(may_prepend && !has_sign ? step.replacement : "");
    for (const char c : text)
        if (c == ' ') memory += step.replacement;
        else memory += c;
    return memory;
}

/// Writes the parts into which a step that joins or removes matches splits the text.
/// Source: SplitDelimiterBehavior of tokenizers.
void WordSplitter::find_parts(const Step& step, std::string_view text, Memory::OfStep& own) {
    std::vector<MatchedPart> found;
    const auto add = [&](std::size_t begin, std::size_t end, bool is_match) {
        if (begin < end) found.push_back({begin, end, is_match != step.settings.inverted});
    };
    std::size_t done = 0;
    step.pattern->for_each_match(text, own.classes, [&](std::size_t begin, std::size_t end) {
        add(done, begin, false);
        add(begin, end, true);
        done = end;
    });
    add(done, text.size(), false);
    own.parts.clear();
    bool after_match = false;  // of the part before, or when merging with the next, of the part after
    const auto join = [&](bool joins, const MatchedPart& part) {
        if (joins && !own.parts.empty()) {
            own.parts.back().first = std::min(own.parts.back().first, part.begin);
            own.parts.back().second = std::max(own.parts.back().second, part.end);
        } else {
            own.parts.emplace_back(part.begin, part.end);
        }
        after_match = part.is_match;
    };
    switch (step.settings.behavior) {
        case SplitBehavior::isolated:
            for (const MatchedPart& part : found) join(false, part);
            break;
        case SplitBehavior::removed:
            for (const MatchedPart& part : found)
                if (!part.is_match) join(false, part);
            break;
        case SplitBehavior::contiguous:
            for (const MatchedPart& part : found) join(part.is_match == after_match, part);
            break;
        case SplitBehavior::merged_with_previous:
            for (const MatchedPart& part : found) join(part.is_match && !after_match, part);
            break;
        case SplitBehavior::merged_with_next:
            for (auto part = found.rbegin(); part != found.rend(); ++part) join(part->is_match && !after_match, *part);
            std::ranges::reverse(own.parts);
            break;
    }
}

}  // namespace bertpretrain
