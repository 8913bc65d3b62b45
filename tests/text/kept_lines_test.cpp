#include "text/formats/kept_lines.h"

#include <vector>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("kept lines are never blank, and restore every text with its white space, line ends and control characters") {
    RandomSequence random(5, Purpose::document_order, 0);
    const std::vector<std::string> parts = {"a", " ", "\n", "\r", "\t", "\f", "\x01", "\x02", "\x03", "\u3000", "\u00e9"};
    std::string all;
    std::vector<std::string> texts;
    for (int t = 0; t < 2000; ++t) {
        std::string text = t % 2 == 0 ? "x" : "";
        for (std::uint32_t i = 0, size = random.below(12); i < size; ++i)
            text += parts[random.below(static_cast<std::uint32_t>(parts.size()))];
        const std::string lines = kept_lines(text);
        CHECK(lines.empty() == is_blank_line(text));
        for_each_universal_line(lines, [](std::string_view line) { CHECK_FALSE(is_blank_line(line)); });
        if (lines.empty()) continue;
        CHECK(lines.back() == '\n');
        all += lines + "\n";
        texts.push_back(text);
    }
    std::vector<std::string> restored;
    for_each_kept_text(all, [&](std::string_view text) { restored.emplace_back(text); });
    CHECK(texts.size() > 1000);
    CHECK(restored == texts);
}
