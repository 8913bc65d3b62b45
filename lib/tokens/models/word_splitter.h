#pragma once
// Splits text into words by the steps of a tokenizer.json's pre-tokenizer.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens/definition/split_pattern.h"
#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// Immutable, so thread-safe.
class WordSplitter {
public:
    /// @param where begins messages  @throws DataError for a regular expression that is not supported
    WordSplitter(const std::vector<SplitStep>& steps, const std::string& where);

    /// Returns whether every text is read as if a space stood before it.
    bool begins_with_sign() const {
        return std::ranges::any_of(steps_, [](const Step& step) {
            return step.settings.metaspace && step.settings.metaspace->prepend == Metaspace::Prepend::always;
        });
    }

    /// Memory of one call, reused by the next.
    struct Memory {
        struct OfStep {
            std::string text, classes;
            std::vector<std::pair<std::size_t, std::size_t>> parts;
        };
        std::vector<OfStep> steps;
    };

    /// Calls visit(word) for each word, none of them empty. @param text valid UTF-8
    /// @param is_first whether nothing stands before this text
    template <class Visit>
    void split(std::string_view text, bool is_first, Memory& memory, const Visit& visit) const {
        memory.steps.resize(steps_.size());
        run(0, text, is_first, memory, visit);
    }

private:
    struct Step {
        SplitStep settings;
        std::optional<SplitPattern> pattern;  ///< nullopt: does not split
    };
    using Parts = std::vector<std::pair<std::size_t, std::size_t>>;

    template <class Visit>
    void run(std::size_t number, std::string_view text, bool is_first, Memory& memory, const Visit& visit) const {
        if (text.empty()) return;
        if (number == steps_.size()) return visit(text);
        const Step& step = steps_[number];
        Memory::OfStep& own = memory.steps[number];
        const auto visit_part = [&](std::size_t begin, std::size_t end) {
            if (begin < end) run(number + 1, text.substr(begin, end - begin), is_first && begin == 0, memory, visit);
        };
        if (step.settings.metaspace) {
            text = with_signs(*step.settings.metaspace, text, is_first, own.text);
            return visit_before_signs(*step.settings.metaspace, text, visit_part);
        }
        if (step.settings.add_prefix_space && text[0] != ' ') text = own.text.assign(" ").append(text);
        if (!step.pattern) return visit_part(0, text.size());
        if (step.settings.behavior != SplitBehavior::isolated) {
            find_parts(step, text, own);
            for (const auto& [begin, end] : own.parts) visit_part(begin, end);
            return;
        }
        std::size_t done = 0;
        step.pattern->for_each_match(text, own.classes, [&](std::size_t begin, std::size_t end) {
            visit_part(done, begin);
            visit_part(begin, end);
            done = end;
        });
        visit_part(done, text.size());
    }

    static std::string_view with_signs(const Metaspace& step, std::string_view text, bool is_first, std::string& memory);
    template <class VisitPart>
    static void visit_before_signs(const Metaspace& step, std::string_view text, const VisitPart& visit_part) {
        std::size_t begin = 0;
        while (step.splits) {
            const std::size_t sign = text.find(step.replacement, begin + 1);
            if (sign == std::string_view::npos) break;
            visit_part(begin, sign);
            begin = sign;
        }
        visit_part(begin, text.size());
    }
    static void find_parts(const Step& step, std::string_view text, Memory::OfStep& own);

    std::vector<Step> steps_;
};

}  // namespace bertpretrain
