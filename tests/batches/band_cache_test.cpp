#include "batches/band_cache.h"

#include "batches/sample_shards.h"
#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Shards with the given numbers of rows, each of one band.
struct Bands {
    explicit Bands(const std::vector<std::int64_t>& rows_of_shard)
        : shards(rows_of_shard), surveyed(survey_shards(shards.files, sample_format())) {}
    Band of(std::int64_t shard) const { return {shard, 0, surveyed[static_cast<std::size_t>(shard)].rows}; }

    SampleShards shards;
    std::vector<ShardFile> surveyed;
};

const std::int64_t row_bytes = bytes_of_row(sample_length, sample_predictions);

}  // namespace

TEST_CASE("bytes_of_row() is the size of a row's vectors") {
    const ShardRows rows = empty_rows(7, sample_length, sample_predictions);
    const std::size_t bytes = rows.input_ids_RS.size() * 4 + rows.input_mask_RS.size() + rows.segment_ids_RS.size() +
                              rows.masked_lm_positions_RP.size() * 4 + rows.masked_lm_ids_RP.size() * 4 +
                              rows.next_sentence_labels_R.size();
    CHECK(bytes_of_row(sample_length, sample_predictions) * 7 == static_cast<std::int64_t>(bytes));
}

TEST_CASE("the cache gives the shard's rows and never holds more than its limit") {
    const Bands bands({10, 20, 30, 40, 10});
    BandCache cache(bands.surveyed, sample_format(), 60 * row_bytes);
    RandomSequence random(1, Purpose::sample_order, 0);
    for (int i = 0; i < 60; ++i) {
        const std::int64_t shard = random.below(5);
        const ShardRows& rows = cache.rows_of(shard, bands.of(shard));
        CHECK(rows.rows == bands.of(shard).rows);
        CHECK(rows.input_ids_RS == sample_rows(shard, 0, rows.rows).input_ids_RS);
        CHECK(cache.bytes() <= 60 * row_bytes);
    }
    CHECK(cache.reads() < 60);
}

TEST_CASE("the least recently used band is evicted, and a cached band is not read again") {
    const Bands bands({10, 10, 10});
    BandCache cache(bands.surveyed, sample_format(), 20 * row_bytes);
    for (const std::int64_t shard : {0, 1, 0, 1, 0}) cache.rows_of(shard, bands.of(shard));
    CHECK(cache.reads() == 2);
    cache.rows_of(2, bands.of(2));  // evicts 1
    cache.rows_of(0, bands.of(0));
    CHECK(cache.reads() == 3);
    cache.rows_of(1, bands.of(1));
    CHECK(cache.reads() == 4);
    CHECK(cache.bytes() == 20 * row_bytes);
}

TEST_CASE("bands of past windows are dropped") {
    const Bands bands({10, 20, 30});
    BandCache cache(bands.surveyed, sample_format(), 1000 * row_bytes);
    for (const std::int64_t shard : {0, 1, 2}) cache.rows_of(100 + shard, bands.of(shard));
    cache.forget_before(101);
    CHECK(cache.bytes() == 50 * row_bytes);
    cache.forget_before(200);
    CHECK(cache.bytes() == 0);
}

TEST_CASE("a band larger than the limit is kept as the only one") {
    const Bands bands({10, 50});
    BandCache cache(bands.surveyed, sample_format(), 20 * row_bytes);
    cache.rows_of(0, bands.of(0));
    CHECK(cache.rows_of(1, bands.of(1)).rows == 50);
    CHECK(cache.bytes() == 50 * row_bytes);
}

TEST_CASE("reading ahead fills the remaining room, on any number of threads, and evicts nothing") {
    const Bands bands({10, 20, 30, 40, 10});
    std::vector<NumberedBand> wanted;
    for (std::int64_t shard = 0; shard < 5; ++shard) wanted.push_back({shard, bands.of(shard)});
    for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
        BandCache cache(bands.surveyed, sample_format(), 75 * row_bytes, threads);
        cache.rows_of(4, bands.of(4));
        cache.read_ahead(wanted);  // 10 rows are cached; 10, 20 and 30 more fit, 40 do not
        CHECK(cache.reads() == 4);
        CHECK(cache.bytes() == 70 * row_bytes);
        for (const std::int64_t shard : {0, 1, 2, 4})
            CHECK(cache.rows_of(shard, bands.of(shard)).input_ids_RS == sample_rows(shard, 0, bands.of(shard).rows).input_ids_RS);
        CHECK(cache.reads() == 4);
    }
}
