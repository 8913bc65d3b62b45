#pragma once
// Splits text into words by the steps of a tokenizer.json's pre-tokenizer.

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

    /// Memory of one call, reused by the next.
    struct Memory {
        struct OfStep {
            std::string text, classes;
            std::vector<std::pair<std::size_t, std::size_t>> parts;
        };
        std::vector<OfStep> steps;
    };

    /// Calls visit(word) for each word, none of them empty. @param text valid UTF-8
    template <class Visit>
    void split(std::string_view text, Memory& memory, const Visit& visit) const {
        memory.steps.resize(steps_.size());
        run(0, text, memory, visit);
    }

private:
    struct Step {
        SplitStep settings;
        std::optional<SplitPattern> pattern;  ///< nullopt: does not split
    };
    using Parts = std::vector<std::pair<std::size_t, std::size_t>>;

    template <class Visit>
    void run(std::size_t number, std::string_view text, Memory& memory, const Visit& visit) const {
        if (text.empty()) return;
        if (number == steps_.size()) return visit(text);
        const Step& step = steps_[number];
        Memory::OfStep& own = memory.steps[number];
        if (step.settings.add_prefix_space && text[0] != ' ') text = own.text.assign(" ").append(text);
        if (!step.pattern) return run(number + 1, text, memory, visit);
        const auto visit_part = [&](std::size_t begin, std::size_t end) {
            if (begin < end) run(number + 1, text.substr(begin, end - begin), memory, visit);
        };
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

    static void find_parts(const Step& step, std::string_view text, Memory::OfStep& own);

    std::vector<Step> steps_;
};

}  // namespace bertpretrain
