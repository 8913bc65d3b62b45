#include "deduplication/record_sorter.h"

#include "core/error.h"
#include "deduplication/fingerprints.h"
#include "made_up_text.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("records come back sorted, the same in memory and from many runs on disk") {
    const TemporaryFolder folder;
    for (const std::uint64_t most_key : {~std::uint64_t{0}, std::uint64_t{3}})
        for (const std::size_t memory : {std::size_t{1} << 28, std::size_t{1}}) {
            Numbers numbers(7);
            std::vector<SentenceRecord> all;
            RecordSorter<SentenceRecord> sorter(folder.path(), memory, 2);
            for (std::uint32_t i = 0; i < 30'000; ++i) {
                const std::uint64_t hash = std::uint64_t{numbers.below(~0U)} << 32 | numbers.below(~0U);
                all.push_back({hash & most_key, numbers.below(50), i});
                sorter.add(all.back());
            }
            sorter.finish();
            CHECK(sorter.spilled() == (memory == 1));
            std::vector<SentenceRecord> sorted;
            for (std::size_t bucket = 0; bucket < sorter.buckets; ++bucket)
                sorter.visit(bucket, [&](const SentenceRecord& record) { sorted.push_back(record); });
            std::sort(all.begin(), all.end());
            CHECK(sorted == all);
        }
}

TEST_CASE("a sorter without records shows none, and a folder that cannot hold a run is a DataError") {
    RecordSorter<SentenceRecord> sorter("/nonexistent", 1, 1);
    sorter.finish();
    sorter.visit(0, [](const SentenceRecord&) { FAIL("a record"); });
    const auto fill = [] {
        RecordSorter<SentenceRecord> small("/nonexistent", 1, 1);
        for (std::uint32_t i = 0; i < 1000; ++i) small.add({0, i, 0});
    };
    CHECK_THROWS_AS(fill(), DataError);
}
