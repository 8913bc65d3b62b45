#include "shards/sample.h"

#include <set>

#include "sample_rows.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("each duplicate of a document is cut and masked anew, and a document's samples are its own business") {
    // Two sentences that fill a sequence: the pair is always the same text, so only the masks can differ.
    const Document document{Sentence(30, 50), Sentence(31, 60)};
    const std::vector<Document> documents{document, document};
    SampleRules rules = made_up_rules();
    rules.pairs.short_sequence_probability = 0;
    rules.duplicate_factor = 20;
    const std::vector<Sample> samples = make_samples(documents, 0, 7, rules);
    std::set<std::vector<std::int32_t>> masks;
    std::set<bool> kinds;
    for (const Sample& sample : samples) {
        masks.insert(sample.masked.positions);
        kinds.insert(sample.pair.is_random_next);
    }
    CHECK(masks.size() == samples.size());
    CHECK(kinds.size() == 2);

    const auto masks_of = [&](std::uint64_t number, std::int64_t duplicates) {
        rules.duplicate_factor = duplicates;
        std::vector<std::vector<std::int32_t>> positions;
        for (const Sample& sample : make_samples(documents, 0, number, rules)) positions.push_back(sample.masked.positions);
        return positions;
    };
    const auto two = masks_of(7, 2), three = masks_of(7, 3);
    CHECK(std::vector(three.begin(), three.begin() + static_cast<std::ptrdiff_t>(two.size())) == two);
    CHECK(masks_of(8, 2) != two);
}
