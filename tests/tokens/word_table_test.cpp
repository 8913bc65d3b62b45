// Counting millions of different words takes time in proportion to them.
#include "tokens/models/word_table.h"

#include <functional>
#include <string>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("words are found within few slots, also those of one part of all words, chosen by any bits of their hash") {
    const auto shift = GENERATE(0, 6, 12, 18, 58);
    CAPTURE(shift);
    WordTable table;
    for (int i = 0; table.size() < 20'000; ++i) {
        const std::string word = "w" + std::to_string(i);
        if ((std::hash<std::string_view>()(word) >> shift) % 64 == 7) table.add(word, 1);
    }
    CHECK(table.longest_search() < 100);  // 20,000 words in 65,536 slots; chance alone needs about 20
}
